/* ahead.c - promise 10: a large bucket moves down before the bucket is due, a
 * little in each call. The cases count moved timers, and measure no time.
 *
 *     ahead [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/cases.h"

/* A few hundred: no call has to move less than this number of timers. */
#define FEW 520

/* A bucket in the wheel with steps of 2^shift ticks, two steps after the clock.
 * The timers are in the first `span` ticks of the bucket, in the order of
 * `scatter`. The step before the bucket takes `calls` calls. */
typedef struct row {
    const char *name;
    uint32_t size;
    unsigned shift;
    uint64_t tick;
    size_t count;
    uint64_t span;
    unsigned calls;
    unsigned meddle; /* so many changes after each call; see meddle */
    size_t limit;    /* of each call; 0: none */
} row;

/* clang-format off */
static const row rows[] = {
    {"half of the time moves half of the timers",
     256, 16, 1, 9000, 65536, 2, 0, 0},
    {"three calls", 256, 16, 1, 9000, 65536, 3, 0, 0},
    {"ten calls, wheel 1", 256, 8, 1, 9000, 256, 10, 0, 0},
    {"64 calls, wheel 1", 256, 8, 1, 9000, 256, 64, 0, 0},
    {"200 calls, wheel 2", 256, 16, 1, 18000, 65536, 200, 0, 0},
    {"64 calls, wheel 3", 256, 24, 1, 9000, 1 << 24, 64, 0, 0},
    {"64 calls, steps of 2^40 ticks", 256, 40, 1, 9000, 1 << 24, 64, 0, 0},
    {"64 calls, ticks of 1,000", 256, 16, 1000, 9000, 65536, 64, 0, 0},
    {"64 calls, wheels of 16", 16, 12, 1, 9000, 4096, 64, 0, 0},
    {"64 calls, wheels of 4096", 4096, 12, 1, 9000, 4096, 64, 0, 0},
    {"all timers in one tick", 256, 16, 1, 9000, 1, 64, 0, 0},
    {"all timers in ten ticks", 256, 16, 1, 9000, 10, 50, 0, 0},
    {"a thousand timers", 256, 16, 1, 1000, 65536, 64, 0, 0},
    {"timers start, restart, are postponed and cancelled meanwhile",
     256, 16, 1, 9000, 50, 60, 40, 0},
    {"the same in wheels of 16", 16, 8, 1, 9000, 10, 30, 40, 0},
    {"the same in wheels of 2, long ticks", 2, 10, 7, 9000, 1000, 30, 40, 0},
    {"each call has the limit 1", 256, 16, 1, 9000, 50, 400, 0, 1},
    {"each call has the limit 7", 256, 16, 1, 9000, 65536, 400, 9, 7},
    {"each call has the limit 100", 256, 16, 1, 9000, 65536, 400, 9, 100},
};
/* clang-format on */

/* Starts timers of the crowd within `span` ticks, in the order of scatter. */
static void start_crowd(size_t count, uint64_t first, uint64_t span)
{
    for (size_t i = 0; i < count; i++)
        start_numbered(i, (first + scatter(i, span)) * tick_length);
}

/* Starts, restarts, postpones, cancels and moves timers of the bucket.
 * Postpones stay in the bucket, or leave the bucket. */
static void meddle(const row *this_row, uint64_t begin, unsigned round)
{
    for (unsigned i = 0; i < this_row->meddle; i++) {
        uint64_t r = round * 1000 + i;
        uint64_t tick = begin + scatter(r, this_row->span);
        size_t at = (size_t)scatter(r + 77, this_row->count);
        numbered *some = &crowd[at];
        if (i % 4 == 0)
            start_numbered(this_row->count + (size_t)r % 1000,
                           tick * tick_length);
        if (i % 4 == 1)
            start_numbered(at, tick * tick_length);
        if (i % 4 == 2 && tw_is_pending(&some->timer))
            postpone_numbered(at,
                              (some->tick + scatter(r, 2 * this_row->span)) *
                                  tick_length);
        if (i % 4 == 3)
            tw_cancel(&tw, &some->timer);
        if (i % 4 == 3 && tw_is_pending(&crowd[at / 2].timer)) {
            static numbered away;
            away = crowd[at / 2]; /* there and back */
            tw_timer_init(&away.timer, NULL);
            tw_move(&tw, &crowd[at / 2].timer, &away.timer);
            tw_move(&tw, &away.timer, &crowd[at / 2].timer);
        }
    }
}

static void run_row(void)
{
    const row *this_row = &rows[tap_case_index];
    const uint64_t step = UINT64_C(1) << this_row->shift;
    const uint64_t begin = 5 * step, own = 4 * step;
    size_t left = this_row->count;
    set_up_with(this_row->tick, 3 * step * this_row->tick, this_row->size, 0);
    start_crowd(this_row->count, begin, this_row->span);
    tw_advance_clock(&tw, own * tick_length);
    uint64_t moved = stats().cascaded;
    CHECK(moved <= FEW); /* no earlier than in the step before */
    for (unsigned i = 1; i < this_row->calls; i++) {
        uint64_t last = own + step * (i - 1) / this_row->calls;
        uint64_t now = own + step * i / this_row->calls;
        size_t limit = this_row->limit == 0 ? SIZE_MAX : this_row->limit;
        CHECK(tw_advance_clock_limit(&tw, now * tick_length, limit) == 0);
        CHECK(tw_now(&tw) == now * tick_length);
        size_t more = (size_t)(stats().cascaded - moved);
        double share =
            (double)left * (double)(now - last) / (double)(begin - last);
        CHECK(this_row->meddle != 0 || (double)more <= share + FEW);
        CHECK(more <= limit);
        left -= more < left ? more : left;
        moved = stats().cascaded;
        meddle(this_row, begin, i);
    }
    if (this_row->limit == 0 && this_row->meddle == 0)
        CHECK(left <= this_row->count / this_row->calls + FEW);
    if (this_row->limit != 0 && this_row->limit < 100)
        CHECK(moved >= 300 * this_row->limit);
    CHECK(tw_check(&tw));
    tw_advance_clock(&tw, (begin - 1) * tick_length);
    for (size_t i = 0; i < 60; i++) /* behind the timers that moved */
        start_numbered(CROWD - 1 - i,
                       (begin + i % this_row->span) * tick_length);
    fire_all(UINT64_MAX);
    tear_down();
}

/* The longest call, fired and moved timers, of a loop that moves the clock by
 * `by` at a time. */
static size_t longest_call(uint64_t until, uint64_t by)
{
    size_t longest = 0;
    for (uint64_t now = 0; now < until; now += by) {
        uint64_t moved = stats().cascaded;
        size_t work = tw_advance_clock(&tw, now);
        work += (size_t)(stats().cascaded - moved);
        longest = work > longest ? work : longest;
    }
    CHECK(misplaced == 0 && tw_count(&tw) == 0);
    return longest;
}

/* A cache with keys of an hour; the loop sleeps long, or at most a second. */
static void quiet_loop(void)
{
    size_t longest[2];
    for (int i = 0; i < 2; i++) {
        set_up();
        start_crowd(CROWD, 3600000, 60000);
        longest[i] = longest_call(3700000, i == 0 ? 60000 : 1000);
        tear_down();
    }
    CHECK(longest[0] > CROWD / 2 && longest[1] < CROWD / 20 + FEW);
}

static void busy_loop(void)
{
    set_up();
    start_crowd(CROWD, 200000, 65536);
    CHECK(longest_call(300000, 16) < 2 * FEW);
    tear_down();
}

/* After a sleep of a minute the loop starts time-outs of up to 2 s, in ticks of
 * a microsecond. A loop that advances first places each timer once. */
static void burst_after_a_sleep(void)
{
    uint64_t moved[2];
    for (int i = 0; i < 2; i++) {
        uint64_t now = 60000000;
        set_up();
        if (i == 0)
            tw_advance_clock(&tw, now);
        start_crowd(CROWD, now + 100000, 1900000);
        for (; tw_count(&tw) != 0; now += 500)
            tw_advance_clock(&tw, now);
        CHECK(misplaced == 0);
        moved[i] = stats().cascaded;
        tear_down();
    }
    CHECK(moved[0] < moved[1]);
}

/* The clock jumps into a step, and its bucket moves down at the first timer:
 * the next bucket of the finer wheel is large now, and moves ahead. */
static void large_after_a_move(void)
{
    const uint64_t begin = 5 << 16;
    set_up_with(1, 0, 256, 0);
    start_numbered(9000, begin + 50);
    start_crowd(9000, begin + 256, 256);
    CHECK(tw_advance_clock(&tw, begin + 10) == 0);
    CHECK(tw_advance_clock(&tw, begin + 50) == 1);
    for (uint64_t now = begin + 60; now < begin + 256; now += 5)
        CHECK(tw_advance_clock(&tw, now) == 0);
    uint64_t moved = stats().cascaded;
    CHECK(tw_advance_clock(&tw, begin + 256) < 100);
    CHECK(stats().cascaded - moved < FEW);
    fire_all(1 << 20);
    tear_down();
}

/* Due timers fire before timers move, within the limit. */
static void after_due_timers(void)
{
    const uint64_t due = 7 << 15;
    set_up();
    start_crowd(9000, 4 << 16, 65536);
    tw_advance_clock(&tw, due - 100);
    for (size_t i = 9000; i < 9030; i++)
        start_numbered(i, due);
    uint64_t before_call = stats().cascaded;
    CHECK(tw_advance_clock_limit(&tw, due, 30) == 30);
    CHECK(stats().cascaded == before_call);
    CHECK(tw_advance_clock_limit(&tw, due + 1000, 30) == 0);
    CHECK(stats().cascaded - before_call - 1 < 30);
    fire_all(1 << 20);
    tear_down();
}

/* The clock jumps into the step before, to its end, into the bucket, over the
 * bucket, or goes back. */
static void clock_jumps(void)
{
    static const uint64_t jumps[][3] = {
        {3 << 16, 4 << 16, 0},
        {7 << 15, (4 << 16) - 1, 0},
        {9 << 15, 0, 0},
        {7 << 15, 9 << 15, 0},
        {5 << 15, 6 << 15, 7 << 15},
        {(3 << 16) + 9, 1000, 15 << 14},
        {11 << 15, 0, 0},
        {(4 << 16) - 2, 4 << 16, (4 << 16) + 1}};
    for (size_t i = 0; i < LENGTH(jumps); i++) {
        set_up();
        start_crowd(9000, 4 << 16, 65536);
        for (size_t j = 0; j < 3; j++)
            tw_advance_clock(&tw, jumps[i][j]);
        fire_all(UINT64_MAX);
        tear_down();
    }
}

static void at_the_end_of_time(void)
{
    for (unsigned level = 1; level < 8; level++) {
        uint64_t step = UINT64_C(1) << 8 * level;
        set_up_at(level == 7 ? UINT64_C(250) << 56 : UINT64_MAX - 6 * step + 1);
        for (size_t i = 0; i < 9000; i++)
            start_numbered(i, UINT64_MAX - scatter(i, step));
        for (unsigned i = 0; i < 60; i++)
            tw_advance_clock(&tw, UINT64_MAX - 2 * step + 1 + step / 60 * i);
        CHECK(stats().cascaded > 4500);
        fire_all(UINT64_MAX);
        tear_down();
    }
}

/* A loop that sleeps for tw_wait wakes once per tick with timers. */
static void wakes_nobody(void)
{
    static bool seen[65536];
    size_t distinct = 0, wakes = 0, idle = 0;
    uint64_t now = 0;
    set_up();
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < 9000; i++) {
        uint64_t at = scatter(i, 65536);
        distinct += !seen[at];
        seen[at] = true;
        start_numbered(i, (4 << 16) + at);
    }
    for (size_t i = 0; i < 300; i++) /* keep the loop busy before */
        start_numbered(9000 + i, 1 + i * (4 << 16) / 300);
    for (; tw_count(&tw) != 0 && wakes < CROWD; wakes++) {
        now += tw_wait(&tw, now, UINT64_MAX);
        idle += tw_advance_clock(&tw, now) == 0;
    }
    CHECK(stats().cascaded > 4500 && misplaced == 0);
    CHECK(idle == 0 && wakes == distinct + 300);
    tear_down();
}

/* Buckets with fewer timers than a few hundred stay. */
static void small_bucket_stays(void)
{
    set_up_with(1, 0, 256, 0);
    start_crowd(200, 1024, 256);
    for (uint64_t now = 0; now < 1024; now += 5)
        tw_advance_clock(&tw, now);
    CHECK(stats().cascaded == 0);
    fire_all(2000);
    tear_down();
}

static const tap_case cases[] = {
    {"quiet: a loop that sleeps a second at most has short calls", quiet_loop},
    {"the longest call of a busy loop is short", busy_loop},
    {"burst: advance first, then start: each timer is placed once",
     burst_after_a_sleep},
    {"a bucket that a move makes large moves ahead", large_after_a_move},
    {"due timers fire before timers move", after_due_timers},
    {"timers fire in time if the clock jumps", clock_jumps},
    {"timers move ahead up to 2^64 - 1", at_the_end_of_time},
    {"moves alone never wake the loop", wakes_nobody},
    {"a small bucket does not move", small_bucket_stays},
};

TAP_MAIN_ROWS(rows, run_row, cases)
