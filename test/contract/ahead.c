/* ahead.c - promise 10: a large bucket moves down before the bucket is due, a
 * little in each call. The cases count moved timers, and measure no time. The
 * longest calls are in test/cost/work.c, the order in test/search.
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
    size_t limit; /* of each call; 0: none */
} row;

/* clang-format off */
static const row rows[] = {
    {"half of the time moves half of the timers",
     256, 16, 1, 9000, 65536, 2, 0},
    {"64 calls, wheel 1", 256, 8, 1, 9000, 256, 64, 0},
    {"200 calls, wheel 2", 256, 16, 1, 18000, 65536, 200, 0},
    {"64 calls, steps of 2^40 ticks", 256, 40, 1, 9000, 1 << 24, 64, 0},
    {"64 calls, ticks of 1,000", 256, 16, 1000, 9000, 65536, 64, 0},
    {"64 calls, wheels of 16", 16, 12, 1, 9000, 4096, 64, 0},
    {"64 calls, wheels of 4096", 4096, 12, 1, 9000, 4096, 64, 0},
    {"all timers in one tick", 256, 16, 1, 9000, 1, 64, 0},
    {"a thousand timers", 256, 16, 1, 1000, 65536, 64, 0},
    {"each call has the limit 1", 256, 16, 1, 9000, 50, 400, 1},
    {"each call has the limit 100", 256, 16, 1, 9000, 65536, 400, 100},
};
/* clang-format on */

/* Starts timers of the crowd within `span` ticks, in the order of scatter. */
static void start_crowd(size_t count, uint64_t first, uint64_t span)
{
    for (size_t i = 0; i < count; i++)
        start_numbered(i, (first + scatter(i, span)) * tick_length);
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
        CHECK((double)more <= share + FEW && more <= limit);
        left -= more < left ? more : left;
        moved = stats().cascaded;
    }
    if (this_row->limit == 0)
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

/* After a sleep of a minute the loop starts timeouts of up to 2 s, in ticks of
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
    {"burst: advance first, then start: each timer is placed once",
     burst_after_a_sleep},
    {"due timers fire before timers move", after_due_timers},
    {"a small bucket does not move", small_bucket_stays},
};

TAP_MAIN_ROWS(rows, run_row, cases)
