/* spikes.c - promise 10: no call moves many timers at once. tw_get_stats counts
 * the moves. ../cost/work.c has more cases, under every kind of load.
 *
 *     spikes [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "cases.h"
#include "../lib/random.h"

enum { MOST = 20000, BATCH = 8 };

static tw_timer crowd[MOST];
static size_t early_or_late;

static void on_fire(timingwheel *wheel, tw_timer *timer)
{
    early_or_late += tw_now(wheel) != tw_deadline(timer);
}

/* Moves the clock to `until` by so many ticks per call. Returns the most moves
 * of a call. */
static uint64_t go(uint64_t until, uint64_t by)
{
    uint64_t most = 0;
    while (tw_now(tw) < until) {
        uint64_t left = until - tw_now(tw), moved = stats().cascaded;
        (void)tw_advance_clock(tw, until - left + (left < by ? left : by));
        moved = stats().cascaded - moved;
        most = moved > most ? moved : most;
    }
    return most;
}

static void begin(void)
{
    set_up_with(1, 0, 256, 0);
    early_or_late = 0;
    for (size_t i = 0; i < MOST; i++)
        tw_timer_init(&crowd[i], on_fire);
}

static void end(void)
{
    CHECK_EQUAL(early_or_late, 0);
    tear_down();
}

/* From tick 0 on, `count` timers wait in the bucket for ticks 1024 to 1279. The
 * first call moves the clock to tick `from`, the next ones to `until` by so
 * many ticks each. */
typedef struct row {
    const char *name;
    uint64_t count, from, by, until;
    uint64_t most;  /* moves of a call, at most */
    uint64_t total; /* moves until then, at least */
} row;

static const row rows[] = {
    {"promise 10: a call per tick moves 1/256 of a bucket", MOST, 768, 1, 1044,
     MOST / 256 + 1 + BATCH, 19900},
    {"promise 10: a call after half of the step moves one half", MOST, 0, 896,
     896, MOST / 2 + BATCH, 9990},
    {"promise 10: a bucket that has begun to move moves until it is empty", 140,
     768, 1, 1023, 1 + BATCH, 138},
    {"promise 10: a bucket of few timers stays where it is", 12, 768, 1, 1280,
     0, 0},
};

static void run_row(void)
{
    const row *r = &rows[tap_case_index];
    begin();
    for (uint64_t i = 0; i < r->count; i++)
        tw_start(tw, &crowd[i], 1024 + i * 256 / r->count);
    (void)go(r->from, UINT64_MAX);
    CHECK(go(r->until, r->by) <= r->most);
    CHECK(stats().cascaded >= r->total);
    end();
}

/* Connections with a timeout of 30,000 ticks, each postponed at every 100th
 * tick or so. A timeout costs a connection two moves. */
static void usual_server(void)
{
    const uint64_t timeout = 30000, end_of_time = 5 * timeout;
    const size_t connections = 10000;
    uint64_t state = 1, most = 0;
    begin();
    for (uint64_t now = 1; now <= end_of_time; now++) {
        if (now <= connections)
            tw_start(tw, &crowd[now - 1], now + timeout);
        for (unsigned i = 0; i < 100 && now > connections; i++)
            tw_postpone(tw, &crowd[random_below(&state, connections)],
                        now + timeout);
        uint64_t moved = go(now, 1);
        most = moved > most ? moved : most;
    }
    CHECK_EQUAL(tw_count(tw), connections);
    CHECK(most <= 256);
    CHECK(stats().cascaded <= 2 * connections * end_of_time / timeout);
    end();
}

static const tap_case cases[] = {
    {"promise 10: a server that postpones its connections", usual_server},
};

TAP_MAIN_ROWS(rows, run_row, cases)
