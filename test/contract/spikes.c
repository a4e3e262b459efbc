/* spikes.c - promise 10: no call moves many timers at once. tw_get_stats counts
 * the moves.
 *
 *     spikes [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "cases.h"
#include "../lib/random.h"

enum { MOST = 40000, OTHERS = 32000, BATCH = 8 };

static tw_timer crowd[MOST], others[OTHERS];
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

/* From tick 0 on, `count` timers wait, spread over `span` ticks from `first`
 * on, in a bucket whose step has `step` ticks. The first of them is restarted
 * so many times. A call moves the clock to the beginning of the step before,
 * except in a row without `by`. From there on, the clock goes to `until` by so
 * many ticks per call, or in one call. */
typedef struct row {
    const char *name;
    uint64_t size, step, count, restarts, others, by, until;
    uint64_t most;  /* moves of a call, at most, besides a batch */
    uint64_t total; /* moves until then, at least */
} row;

#define LONG (UINT64_C(1) << 56)

static const row rows[] = {
    {"promise 10: a call per tick moves 1/256 of a bucket", 256, 256, 20000, 0,
     0, 1, 276, 79, 19900},
    {"promise 10: a call after half of the step moves one half", 256, 256,
     20000, 0, 0, 0, 128, 10000, 9990},
    {"promise 10: 16 calls in a step move a sixteenth each", 256, 256, 20000, 0,
     0, 16, 255, 1250, 19000},
    {"promise 10: 64 calls in a step of 2^56 ticks", 256, LONG, 20000, 0, 0,
     LONG / 64, LONG, 392, 19990},
    {"promise 10: a bucket that has begun to move moves until it is empty", 256,
     256, 140, 0, 0, 1, 255, 1, 138},
    {"promise 10: restarts of a timer count at most as all pending timers", 256,
     256, 2000, 100000, 30000, 1, 276, 32000 / 256, 2000},
    {"promise 10: the same in wheels of 16", 16, 16, 8000, 100000, 30000, 1, 20,
     38000 / 16, 7000},
    {"promise 10: a bucket of few timers stays where it is", 256, 256, 12, 0, 0,
     1, 512, 0, 0},
};

static void begin(uint32_t size)
{
    set_up_with(1, 0, size, 0);
    early_or_late = 0;
    for (size_t i = 0; i < MOST; i++)
        tw_timer_init(&crowd[i], on_fire);
    for (size_t i = 0; i < OTHERS; i++)
        tw_timer_init(&others[i], on_fire);
}

static void end(void)
{
    CHECK_EQUAL(early_or_late, 0);
    tear_down();
}

static void run_row(void)
{
    const row *r = &rows[tap_case_index];
    const uint64_t first = 4 * r->step, from = first - r->step;
    begin((uint32_t)r->size);
    for (uint64_t i = 0; i < r->others; i++)
        tw_start(tw, &others[i], 4000000 + 7 * i);
    for (uint64_t i = 0; i < r->count; i++)
        tw_start(tw, &crowd[i],
                 first + (r->step < r->count ? i * r->step / r->count
                                             : r->step / r->count * i));
    for (uint64_t i = 0; i < r->restarts; i++)
        tw_start(tw, &crowd[0], first);
    if (r->by != 0)
        (void)go(from, from);
    uint64_t most = go(from + r->until, r->by != 0 ? r->by : UINT64_MAX);
    CHECK(most <= r->most + (r->most == 0 ? 0 : BATCH));
    CHECK(stats().cascaded >= r->total);
    end();
}

/* Eight timers in each of 100 buckets, and 200 in a later one. */
static void few_beside_many(void)
{
    begin(256);
    for (size_t i = 0; i < 1000; i++)
        tw_start(tw, &crowd[i], i < 800 ? 1100 + 32 * i : 65000);
    CHECK_EQUAL(go(60000, 8), 0);
    CHECK_EQUAL(tw_count(tw), 200);
    end();
}

/* Connections with a timeout of 30,000 ticks, each postponed at every 100th
 * tick or so. A timeout costs a connection two moves. */
static void usual_server(void)
{
    const uint64_t timeout = 30000, end_of_time = 5 * timeout;
    const size_t connections = 10000;
    uint64_t state = 1, most = 0;
    begin(256);
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
    {"promise 10: few timers stay where they are beside a large bucket",
     few_beside_many},
    {"promise 10: a server that postpones its connections", usual_server},
};

TAP_MAIN_ROWS(rows, run_row, cases)
