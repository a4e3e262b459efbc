/* limit.c - promise 13: tw_advance_clock_limit.
 *
 *     limit [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

static void limit_zero(void)
{
    begin_at(10);
    start('a', 5);
    start('b', 20);
    remember();
    CHECK(tw_advance_clock_limit(&tw, 100, 0) == 0);
    CHECK(unchanged());
    end();
}

static void limit_one_by_one(void)
{
    begin();
    start('a', 50);
    start('b', 50);
    start('c', 60);
    FIRES_AT_MOST(1, 100, "a");
    CHECK(tw_now(&tw) == 50);
    CHECK(tw_wait(&tw, 100, 1000) == 0);
    FIRES_AT_MOST(1, 100, "b");
    FIRES_AT_MOST(1, 100, "c");
    FIRES_AT_MOST(1, 100, "");
    CHECK(tw_now(&tw) == 100);
    end();
}

static void limit_met_exactly(void)
{
    begin();
    start('a', 50);
    start('b', 60);
    start('c', 200);
    FIRES_AT_MOST(2, 100, "ab");
    CHECK(tw_now(&tw) == 100); /* all are handled */
    CHECK(tw_wait(&tw, 100, 1000) == 100);
    end();
}

static void limit_leaves_the_rest_due(void)
{
    begin();
    start('a', 50);
    start('b', 50);
    start('c', 60);
    FIRES_AT_MOST(1, 100, "a");
    FIRES(0, "b"); /* at the clock: fires for any argument */
    FIRES(59, "");
    FIRES(60, "c");
    end();
}

static void limit_then_no_limit(void)
{
    begin();
    for (char name = 'a'; name <= 'e'; name++)
        start(name, 1000);
    FIRES_AT_MOST(2, 1000, "ab");
    FIRES(1000, "cde");
    end();
}

static void limit_of_overdue(void)
{
    begin_at(100);
    start('b', 5);
    start('a', 4);
    start('c', 6);
    FIRES_AT_MOST(1, 200, "b");
    CHECK(tw_now(&tw) == 100);
    CHECK(tw_wait(&tw, 0, 1000) == 0);
    FIRES_AT_MOST(1, 0, "a");
    FIRES_AT_MOST(5, 0, "c");
    end();
}

static void limit_and_a_new_start(void)
{
    begin();
    start('a', 50);
    start('b', 80);
    FIRES_AT_MOST(1, 100, "a");
    start('c', 70);    /* ahead of the clock, which stays at 50 */
    start('d', 40);    /* behind the clock */
    FIRES(100, "cbd"); /* first timers left due, then overdue timers */
    end();
}

static void limit_and_cancel(void)
{
    begin();
    start('a', 50);
    start('b', 50);
    start('c', 50);
    FIRES_AT_MOST(1, 100, "a");
    CHECK(cancel('b'));
    CHECK(postpone('c', 90) == TW_OK);
    FIRES(89, "");
    FIRES(90, "c");
    end();
}

static void limit_and_a_callback(void)
{
    begin();
    start('a', 50);
    start('c', 52);
    when_fired('a', act_start, 'b', 51);
    FIRES_AT_MOST(2, 100, "ab");
    FIRES_AT_MOST(2, 100, "c");
    end();
}

static void limit_is_kept(void)
{
    random_state = 13;
    for (size_t limit = 1; limit <= 64; limit *= 2) {
        size_t calls = 0;
        set_up(1, 0, 8, 0);
        deal_tickets(100000);
        for (size_t i = 0; i < TICKETS; i += 5)
            tw_postpone(&tw, &tickets[i].timer, 100000);
        while (tw_count(&tw) != 0) {
            tw_stats was = stats();
            size_t count = tw_advance_clock_limit(&tw, 100000, limit);
            tw_stats is = stats();
            CHECK(is.fired - was.fired == count);
            CHECK(is.fired + is.cascaded - was.fired - was.cascaded <= limit);
            CHECK(tw_count(&tw) == 0 || tw_wait(&tw, 100000, 9) == 0);
            calls++;
        }
        /* No call comes back early with work left, or but for a cause. */
        CHECK(calls * limit <= 2 * (stats().fired + stats().cascaded) + limit);
        end();
    }
}

static void limit_huge(void)
{
    begin();
    start('a', 5);
    start('b', UINT64_MAX);
    FIRES_AT_MOST(SIZE_MAX, UINT64_MAX, "ab");
    end();
}

static void limit_backwards(void)
{
    begin();
    start('a', 50);
    start('b', 50);
    start('c', 50);
    FIRES_AT_MOST(1, 60, "a");
    FIRES_AT_MOST(1, 10, "b");
    FIRES_AT_MOST(1, 10, "c");
    CHECK(tw_now(&tw) == 50);
    end();
}

/* After the last due timer, a limited call once still returned its tick. */
static void limit_reached_exactly(void)
{
    uint64_t deadline;
    set_up(1, 100, 2, 0);
    start('a', 253);
    start('b', 249);
    CHECK(tw_advance_clock_limit(&tw, 249, 1) == 1);
    CHECK(tw_next_deadline(&tw, &deadline) && deadline == 253);
    CHECK(tw_wait(&tw, 249, 1000) == 4);
    CHECK(tw_now(&tw) == 249);
    end();
}

/* The timers due use up the limit and leave a later timer in their bucket. */
static void limit_met_in_a_bucket(void)
{
    begin();
    start('a', 1000);
    start('b', 1000);
    start('c', 1001);
    FIRES_AT_MOST(2, 1000, "ab");
    CHECK(next() == 1001);
    CHECK(tw_wait(&tw, 1000, 50) == 1);
    end();
}

static const tap_case limit_cases[] = {
    {"promise 13: limit 0 does nothing", limit_zero},
    {"promise 13: limit 1 fires one timer per call, and tw_wait is 0",
     limit_one_by_one},
    {"promise 13: a limit equal to the timers due finishes the call",
     limit_met_exactly},
    {"promise 13: a timer left at the clock fires in the next call",
     limit_leaves_the_rest_due},
    {"promise 13: a call without limit fires the rest", limit_then_no_limit},
    {"promise 13: a limit holds for overdue timers", limit_of_overdue},
    {"promise 13: a start between two limited calls finds its place",
     limit_and_a_new_start},
    {"promise 13: timers left can be cancelled and postponed",
     limit_and_cancel},
    {"promise 13: timers that a callback starts count towards the limit",
     limit_and_a_callback},
    {"promise 13: timers fired and cascaded never exceed the limit",
     limit_is_kept},
    {"promise 13: the largest limit is no limit", limit_huge},
    {"promise 13: timers left fire in calls with an earlier time",
     limit_backwards},
    {"promise 13: a limit just met leaves the next deadline exact",
     limit_reached_exactly},
    {"promise 13: a limit just met in a bucket leaves the next deadline exact",
     limit_met_in_a_bucket},
};

TAP_MAIN(limit_cases)
