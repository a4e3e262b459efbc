/* order.c - promise 8: the firing order of timers.
 *
 *     order [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

/* ------------------------------------------------------------ promise 8 --- */

static void start_order_in_a_tick(void)
{
    begin();
    for (char name = 'z'; name >= 'a'; name--)
        start(name, 700);
    FIRES(700, "zyxwvutsrqponmlkjihgfedcba");
    end();
}

static void tick_order_before_deadlines(void)
{
    set_up(10, 0, 0, 0);
    start('a', 19);
    start('b', 11); /* the same tick, an earlier deadline */
    start('c', 10);
    FIRES(20, "cab");
    end();
}

/* Six timers of one bucket, for four ticks, start out of order. Timer d stays,
 * or is cancelled before the first timer fires, or afterwards. */
static void order_within_a_bucket(void)
{
    for (int moment = 0; moment < 3; moment++) {
        set_up(10, 0, 0, 0);
        start('d', 3019);
        start('a', 3009);
        start('e', 3011);
        start('f', 3100);
        start('b', 3001);
        start('c', 3010);
        if (moment == 1)
            cancel('d');
        FIRES(3009, "");
        FIRES_AT_MOST(1, 3010, "a");
        if (moment == 2)
            cancel('d');
        FIRES(3010, "bc");
        FIRES(3020, moment == 0 ? "de" : "e");
        CHECK(next() == 3100);
        FIRES(3100, "f");
        end();
    }
}

/* Timer a starts far from its deadline. Timer b starts later, in a finer
 * wheel. */
static void order_across_wheels(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2)
        for (uint64_t d = 1; d < 3 * size; d += 1 + d / 7) {
            uint64_t deadline = UINT64_C(1) * size * size + d;
            set_up(1, 0, size, 0);
            start('a', deadline);
            FIRES(deadline - d, "");
            start('b', deadline);
            FIRES(deadline - 1, "");
            start('c', deadline);
            FIRES(deadline, "abc");
            end();
        }
}

static void order_across_four_wheels(void)
{
    static const uint64_t stops[] = {1, 900, 990, 1000, 1015, 1020, 1022, 1023};
    set_up(1, 0, 4, 0);
    start('a', 1024);
    for (int i = 0; i < 8; i++) {
        FIRES(stops[i], "");
        start((char)('b' + i), 1024);
        start((char)('m' + i), 1000000); /* keeps coarse buckets busy */
    }
    FIRES(1024, "abcdefghi");
    FIRES(1000000, "mnopqrst");
    end();
}

static void order_when_cascading_past_others(void)
{
    set_up(1, 0, 4, 0);
    start('a', 100);
    start('b', 101);
    start('c', 100);
    FIRES(90, "");
    start('d', 101);
    start('e', 100);
    start('f', 99);
    FIRES(99, "f");
    start('g', 101);
    start('h', 100);
    FIRES(101, "acehbdg");
    end();
}

static void started_again_counts_as_now(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('a', 10);
    FIRES(10, "ba");
    end();
}

static void overdue_in_start_order(void)
{
    begin_at(50);
    start('b', 5);
    start('a', 3);
    start('c', 5);
    start('d', 4);
    start('e', 40);
    FIRES(50, "bacde");
    end();
}

/* At clock 10 a limit has left timer b. Timer b fires before the later overdue
 * timers c and d. */
static void overdue_beside_what_is_left(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    FIRES_AT_MOST(1, 10, "a");
    start('c', 10);
    start('d', 5);
    FIRES(10, "bcd");
    end();
}

static void overdue_before_due(void)
{
    begin_at(50);
    start('c', 51);
    start('b', 50);
    start('a', 2);
    FIRES(60, "bac");
    end();
}

/* A callback postpones an overdue timer. The timer fires in the next call. */
static void overdue_postponed_by_another(void)
{
    begin_at(100);
    start('a', 50);
    start('b', 60);
    start('c', 65);
    when_fired('a', act_postpone, 'b', 99);
    when_fired('c', act_postpone, 'd', 105);
    start('d', 70);
    FIRES(104, "ac");
    FIRES(104, "b");
    FIRES(105, "d");
    end();
}

static void overdue_from_two_calls(void)
{
    begin();
    start('a', 10);
    start('b', 20);
    when_fired('a', act_start, 'x', 9);
    when_fired('b', act_start, 'y', 8);
    FIRES(30, "ab");
    start('z', 7);
    FIRES(30, "xyz");
    end();
}

static void order_of_many(void)
{
    random_state = 99;
    for (uint32_t size = 2; size <= 4096; size *= 4) {
        set_up(1, 0, size, 0);
        deal_tickets(700);
        CHECK(tw_advance_clock(&tw, 700) == TICKETS);
        CHECK(misplaced == 0);
        end();
    }
}

/* Twenty to thousands of timers in one bucket, spread evenly over the ticks of
 * the bucket, or mostly in a single tick. */
static void order_of_many_in_a_bucket(void)
{
    random_state = 8;
    for (size_t count = 20; count <= TICKETS; count += count / 4)
        for (uint64_t of_one = 0; of_one < 4; of_one++) {
            begin();
            last_ticket = NULL;
            misplaced = 0;
            for (size_t i = 0; i < count; i++) {
                bool is_one = random_below(4) < of_one;
                uint64_t tick = 512 + (is_one ? 100 : random_below(256));
                tw_timer_init(&tickets[i].timer, on_ticket);
                tickets[i].number = i;
                CHECK(tw_start(&tw, &tickets[i].timer, tick) == TW_OK);
            }
            CHECK(tw_advance_clock(&tw, 767) == count);
            CHECK(misplaced == 0);
            end();
        }
}

/* The clock moves between the starts. Timers of one tick wait in different
 * wheels. */
static void order_of_many_while_moving(void)
{
    random_state = 95;
    for (uint32_t size = 2; size <= 4096; size *= 2) {
        set_up(1, 0, size, 0);
        last_ticket = NULL;
        misplaced = 0;
        for (size_t i = 0; i < TICKETS; i++) {
            uint64_t distance = UINT64_C(1) << random_below(11);
            tw_timer_init(&tickets[i].timer, on_ticket);
            tickets[i].number = i;
            tw_start(&tw, &tickets[i].timer,
                     (tw_now(&tw) + distance) | UINT64_C(31));
            if (i % 8 == 0)
                tw_advance_clock(&tw, tw_now(&tw) + random_below(12));
        }
        while (tw_count(&tw) != 0)
            tw_advance_clock(&tw, next());
        CHECK(stats().fired == TICKETS);
        CHECK(misplaced == 0);
        end();
    }
}

static void order_of_many_by_limit(void)
{
    random_state = 98;
    for (size_t limit = 1; limit < 20; limit += 3) {
        set_up(1, 0, 8, 0);
        deal_tickets(900);
        while (tw_count(&tw) != 0)
            tw_advance_clock_limit(&tw, 900, limit);
        CHECK(misplaced == 0);
        end();
    }
}

static void order_of_many_with_holes(void)
{
    random_state = 97;
    set_up(1, 0, 16, 0);
    deal_tickets(5000);
    for (size_t i = 0; i < TICKETS; i += 3)
        CHECK(tw_cancel(&tw, &tickets[i].timer));
    for (uint64_t now = 0; now <= 5000; now += 1 + random_below(40))
        tw_advance_clock(&tw, now);
    tw_advance_clock(&tw, 5000);
    CHECK(tw_count(&tw) == 0);
    CHECK(misplaced == 0);
    end();
}

static void order_of_many_overdue(void)
{
    random_state = 96;
    begin_at(10000);
    deal_tickets(100);
    for (size_t i = 0; i < TICKETS; i++)
        CHECK(tw_poll(&tw, 0) == &tickets[i].timer);
    end();
}

/* --------------------------------------------- the same for every wheel --- */

/* Runs a busy trace. Returns a hash of every timer fired and its time. */
static uint64_t trace_hash(uint32_t size)
{
    uint64_t hash = 14695981039346656037U;
    random_state = 4242;
    set_up(1, 0, size, 0);
    for (int step = 0; step < 20000; step++) {
        char name = (char)('a' + random_below(26));
        uint64_t span = UINT64_C(1) << random_below(14);
        uint64_t deadline = tw_now(&tw) + 1 + random_below(span);
        if (random_below(3) == 0)
            cancel(name);
        else
            start(name, deadline);
        if (random_below(4) != 0)
            continue;
        clear_log();
        tw_advance_clock(&tw, tw_now(&tw) + random_below(200));
        for (size_t i = 0; i < fired_count; i++)
            hash =
                (hash ^ (uint64_t)fired[i] ^ fired_at[i] << 8) * 1099511628211U;
    }
    end();
    return hash;
}

static void same_for_every_wheel_size(void)
{
    uint64_t expected = trace_hash(2);
    for (uint32_t size = 4; size <= 4096; size *= 2)
        CHECK(trace_hash(size) == expected);
}

static const tap_case order_cases[] = {
    {"promise 8: timers of one tick fire in start order",
     start_order_in_a_tick},
    {"promise 8: deadlines within a tick do not change the order",
     tick_order_before_deadlines},
    {"promise 8: timers of one bucket fire in order of their ticks",
     order_within_a_bucket},
    {"promise 8: timers of one tick in different wheels fire in start order",
     order_across_wheels},
    {"promise 8: timers of one tick in four wheels fire in start order",
     order_across_four_wheels},
    {"promise 8: cascading keeps the start order",
     order_when_cascading_past_others},
    {"promise 8: a timer started again counts as started now",
     started_again_counts_as_now},
    {"promise 8: overdue timers fire in start order", overdue_in_start_order},
    {"promise 8: overdue timers fire before due timers", overdue_before_due},
    {"promise 8: timers left by a limit fire before later overdue timers",
     overdue_beside_what_is_left},
    {"promise 8: an overdue timer postponed by another one fires in the next "
     "call",
     overdue_postponed_by_another},
    {"promise 8: overdue starts of callbacks and of the user fire in start "
     "order",
     overdue_from_two_calls},
    {"promise 8: thousands of timers fire in order for several wheel sizes",
     order_of_many},
    {"promise 8: up to thousands of timers in one bucket fire in order",
     order_of_many_in_a_bucket},
    {"promise 8: thousands of timers started while the clock moves fire in "
     "order",
     order_of_many_while_moving},
    {"promise 8: limited calls fire thousands of timers in order",
     order_of_many_by_limit},
    {"promise 8: thousands of timers, a third cancelled, fire in order",
     order_of_many_with_holes},
    {"promise 8: thousands of overdue timers fire in start order",
     order_of_many_overdue},
    {"promise 8: every wheel size fires the same", same_for_every_wheel_size},
};

TAP_MAIN(order_cases)
