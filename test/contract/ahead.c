/* ahead.c - promise 10: a large bucket moves down before the bucket is due, a
 * little in each call. The cases count moved timers, and measure no time. The
 * bounds of each call are in test/cost/work.c, the order in test/search.
 *
 *     ahead [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/cases.h"

/* Starts timers of the crowd within `span` ticks, in the order of scatter. */
static void start_crowd(size_t count, uint64_t first, uint64_t span)
{
    for (size_t i = 0; i < count; i++)
        start_numbered(i, (first + scatter(i, span)) * tick_length);
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

/* A cache with keys of an hour; the loop sleeps long, or at most a second. In a
 * second, a sixtieth of the timers moves down to fire, and a 65th of the step
 * before the coarse bucket passes; random timers are not spread evenly. */
static void quiet_loop(void)
{
    size_t longest[2];
    for (int i = 0; i < 2; i++) {
        set_up();
        start_crowd(CROWD, 3600000, 60000);
        longest[i] = longest_call(3700000, i == 0 ? 60000 : 1000);
        tear_down();
    }
    CHECK(longest[0] > CROWD / 2);
    CHECK(longest[1] < CROWD / 60 * 2 + CROWD / 65 + CROWD / 200);
}

/* A loop that looks at each tick: a bucket with more than a few hundred timers
 * moves down to the last one, so that no call moves many at once. */
static void down_to_the_last(void)
{
    static const size_t counts[] = {301, 512, 600, 2560, CROWD};
    for (size_t i = 0; i < LENGTH(counts); i++) {
        size_t per_tick = (counts[i] + 255) / 256;
        set_up_with(1, 0, 256, 0);
        for (size_t k = 0; k < counts[i]; k++)
            start_numbered(k, 1024 + k % 256);
        size_t longest = longest_call(1300, 1);
        tear_down();
        CHECK(longest <= 2 * per_tick + 2);
    }
}

/* Each call moves the share of the timers left that the time passed has of the
 * time left, rounded up or one timer more. 2^56 ticks times the number of
 * timers exceeds 64 bits. */
static void share_of_the_time(void)
{
    static const unsigned shifts[] = {8, 16, 40, 56};
    const uint64_t most = 64; /* calls in the step before */
    for (size_t i = 0; i < LENGTH(shifts); i++) {
        uint64_t step = UINT64_C(1) << shifts[i], left = 9000, share = 0;
        set_up_with(1, 3 * step, 256, 0);
        start_crowd(left, 5 * step, 256);
        for (uint64_t calls = most; calls >= 1; calls--) {
            CHECK_EQUAL(tw_advance_clock(&tw, 5 * step - step / most * calls),
                        0);
            uint64_t now_left = 9000 - stats().cascaded;
            CHECK(left - share - now_left <= 1);
            left = now_left;
            share = (left + calls - 1) / calls;
        }
        fire_all(UINT64_MAX);
        tear_down();
    }
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
    CHECK_EQUAL(tw_advance_clock_limit(&tw, due, 30), 30);
    CHECK_EQUAL(stats().cascaded, before_call);
    CHECK_EQUAL(tw_advance_clock_limit(&tw, due + 1000, 30), 0);
    CHECK(stats().cascaded - before_call - 1 < 30);
    fire_all(1 << 20);
    tear_down();
}

/* Buckets with fewer timers than a few hundred stay. */
static void small_bucket_stays(void)
{
    set_up_with(1, 0, 256, 0);
    start_crowd(100, 1024, 256);
    for (uint64_t now = 0; now < 1024; now += 5)
        tw_advance_clock(&tw, now);
    CHECK_EQUAL(stats().cascaded, 0);
    fire_all(2000);
    tear_down();
}

static const tap_case cases[] = {
    {"quiet: a loop that sleeps a second at most has short calls", quiet_loop},
    {"each call moves the share of the time passed", share_of_the_time},
    {"more than a few hundred timers move down to the last", down_to_the_last},
    {"due timers fire before timers move", after_due_timers},
    {"a small bucket does not move", small_bucket_stays},
};

TAP_MAIN(cases)
