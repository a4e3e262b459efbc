/* time.c - promises 1 to 4, 6 and 7: when timers fire, and the clock.
 *
 *     time [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

/* ------------------------------------------------------------ promise 1 --- */

static void exact_tick_one(void)
{
    begin();
    start('a', 100);
    FIRES(99, "");
    FIRES(100, "a");
    FIRES(101, "");
    end();
}

static void rounded_up(void)
{
    set_up(10, 0, 0, 0);
    start('a', 11);
    FIRES(11, "");
    FIRES(19, "");
    FIRES(20, "a");
    end();
}

static void on_a_tick(void)
{
    set_up(10, 0, 0, 0);
    start('a', 20);
    FIRES(19, "");
    FIRES(20, "a");
    end();
}

static void clock_inside_a_tick(void)
{
    set_up(10, 25, 0, 0);
    start('a', 25); /* now is no tick: the next one is 30 */
    start('b', 20); /* has passed */
    FIRES(25, "b");
    FIRES(29, "");
    FIRES(30, "a");
    end();
}

static void deadline_is_the_clock(void)
{
    begin_at(77);
    start('a', 77);
    FIRES(77, "a");
    end();
}

static void every_phase_and_delay(void)
{
    static const uint64_t ticks[] = {1, 2, 3, 7, 10};
    for (int i = 0; i < 5; i++)
        for (uint64_t phase = 0; phase < ticks[i]; phase++)
            for (uint64_t delay = 1; delay <= 3 * ticks[i]; delay++) {
                uint64_t tick = ticks[i], from = 1000 * tick + phase;
                uint64_t due = (from + delay + tick - 1) / tick * tick;
                set_up(tick, from, 4, 0);
                start('a', from + delay);
                FIRES(due - 1, from < due ? "" : "a");
                FIRES(due, "a");
                end();
            }
}

static void big_ticks(void)
{
    static const uint64_t ticks[] = {1000,       65536,          1000000,
                                     1000000000, UINT64_MAX / 4, INT64_MAX};
    for (int i = 0; i < 6; i++) {
        set_up(ticks[i], 0, 0, 0);
        start('a', 1);
        start('b', ticks[i]);
        start('c', ticks[i] + 1);
        FIRES(ticks[i] - 1, "");
        FIRES(ticks[i], "ab");
        FIRES(2 * ticks[i] - 1, "");
        FIRES(2 * ticks[i], "c");
        end();
    }
}

/* A timer at `distance` from `from` fires in time if the clock stops just
 * before. */
static void check_distance(uint32_t size, uint64_t from, uint64_t distance)
{
    set_up(1, from, size, 0);
    start('a', from + distance);
    CHECK(next() == from + distance);
    FIRES(from + distance - 1, "");
    FIRES(from + distance, "a");
    end();
}

static void check_spans(uint32_t size, uint64_t from)
{
    uint64_t span = size;
    while (span < UINT64_C(1) << 48) {
        for (uint64_t d = span - 1; d <= span + 1; d++) {
            check_distance(size, from, d);
            check_distance(size, from, 2 * d - 1);
        }
        span *= size;
    }
}

static void around_every_span(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2) {
        check_spans(size, 0);
        check_spans(size, size - 1);
        check_spans(size, 1000003);
    }
}

static void each_tick_of_three_turns(void)
{
    for (uint64_t distance = 1; distance <= 3 * 16; distance++)
        for (uint64_t from = 0; from < 16; from++)
            check_distance(4, from, distance);
}

static void walked_tick_by_tick(void)
{
    set_up(1, 0, 4, 0);
    for (uint64_t now = 0; now < 26; now++)
        start((char)('a' + now), 4 * (now + 1));
    for (uint64_t now = 1; now <= 4 * 26; now++) {
        char expected[2] = {(char)('a' + now / 4 - 1), '\0'};
        FIRES(now, now % 4 == 0 ? expected : "");
    }
    end();
}

static void fires_once(void)
{
    begin();
    start('a', 1000);
    FIRES(2000, "a");
    FIRES(2000, "");
    FIRES(1000, "");
    FIRES(UINT64_MAX, "");
    end();
}

static void never_early_random(void)
{
    random_state = 20250101;
    for (int run = 0; run < 500; run++) {
        uint64_t tick = 1 + random_below(1000);
        uint64_t from = random_below(UINT64_C(1) << (1 + random_below(62)));
        set_up(tick, from, UINT32_C(2) << random_below(8), 0);
        uint64_t deadline =
            from + random_below(UINT64_C(1) << (1 + random_below(62)));
        start('a', deadline);
        uint64_t due = deadline / tick + (deadline % tick != 0);
        if (due > from / tick) {
            FIRES(due * tick - 1, "");
            FIRES(due * tick, "a");
        } else {
            FIRES(0, "a");
        }
        end();
    }
}

/* ------------------------------------------------------------ promise 2 --- */

static void empty_jumps(void)
{
    begin();
    for (uint64_t i = 1; i <= 100000; i++)
        CHECK(tw_advance_clock(&tw, i << 46) == 0);
    CHECK(memory.calls == 0);
    end();
}

static void jump_of_two_to_63(void)
{
    begin();
    FIRES(UINT64_C(1) << 63, "");
    CHECK(tw_now(&tw) == UINT64_C(1) << 63);
    FIRES(UINT64_MAX, "");
    CHECK(tw_now(&tw) == UINT64_MAX);
    end();
}

static void quiet_span_moves_nothing(void)
{
    begin();
    start('a', UINT64_C(1) << 62);
    start('b', (UINT64_C(1) << 62) + 1);
    size_t calls = memory.calls;
    for (uint64_t i = 1; i < 1000; i++)
        CHECK(tw_advance_clock(&tw, i << 51) == 0);
    CHECK(stats().cascaded == 0);
    CHECK(memory.calls == calls);
    FIRES((UINT64_C(1) << 62) + 1, "ab");
    end();
}

static void lone_far_timer(void)
{
    begin();
    start('a', UINT64_C(3600) * 1000000000);
    CHECK(next() == UINT64_C(3600) * 1000000000);
    FIRES(next(), "a"); /* one wake-up, and none on the way */
    CHECK(stats().cascaded == 0);
    end();
}

static void short_after_idle(void)
{
    begin();
    FIRES(1000000, "");
    start('a', 1000005);
    CHECK(stats().wheels == 1); /* placed by its distance from the new clock */
    FIRES(1000005, "a");
    CHECK(stats().cascaded == 0);
    end();
}

/* ------------------------------------------------------------ promise 3 --- */

static void callback_clock(void)
{
    begin();
    start('a', 10);
    start('b', 300);
    start('c', 70000);
    FIRES(100000, "abc");
    CHECK(fired_at[0] == 10 && fired_at[1] == 300 && fired_at[2] == 70000);
    CHECK(tw_now(&tw) == 100000);
    end();
}

static void callback_clock_on_ticks(void)
{
    set_up(10, 4, 0, 0);
    start('a', 11);
    start('b', 30);
    FIRES(35, "ab");
    CHECK(fired_at[0] == 20 && fired_at[1] == 30);
    CHECK(tw_now(&tw) == 35);
    end();
}

static void started_up_to_target(void)
{
    begin();
    start('a', 10);
    start('b', 20);
    start('d', 40);
    when_fired('b', act_start, 'c', 30);
    FIRES(50, "abcd");
    CHECK(fired_at[2] == 30);
    end();
}

static void started_at_target(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start, 'b', 50);
    FIRES(50, "ab");
    end();
}

static void started_beyond_target(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start, 'b', 51);
    FIRES(50, "a");
    FIRES(51, "b");
    end();
}

static void started_behind_its_equals(void)
{
    begin();
    start('a', 10);
    start('b', 20);
    start('c', 20);
    when_fired('a', act_start, 'd', 20);
    FIRES(20, "abcd");
    end();
}

/* A callback starts a timer for the tick that is firing. A bucket of a finer
 * wheel with the same tick fires afterwards, and the new timer in the next
 * call. */
static void started_beside_its_equals(void)
{
    begin();
    start('a', 300);
    FIRES(100, "");
    start('b', 300);
    start('d', 310);
    when_fired('a', act_start, 'c', 300);
    FIRES(1000, "abd");
    FIRES(1000, "c");
    end();
}

static void started_in_a_far_wheel(void)
{
    begin();
    start('a', 10);
    start('z', 200000);
    when_fired('a', act_start, 'b', 100000);
    FIRES(150000, "ab");
    FIRES(200000, "z");
    end();
}

static void chain_within_one_call(void)
{
    begin();
    start('a', 1);
    when_fired('a', act_start_after, 'a', 1);
    clear_log();
    CHECK(tw_advance_clock(&tw, 1000) == 1000);
    for (size_t i = 0; i < 1000; i++)
        CHECK(fired_at[i] == i + 1);
    CHECK(next() == 1001);
    end();
}

static void chain_with_big_steps(void)
{
    begin();
    start('a', 1);
    when_fired('a', act_start_after, 'a', 999);
    clear_log();
    CHECK(tw_advance_clock(&tw, 999000) == 1000);
    CHECK(fired_at[999] == 1 + 999 * 999);
    end();
}

/* ------------------------------------------------------------ promise 4 --- */

static void after_adds(void)
{
    CHECK(tw_after(0, 0) == 0);
    CHECK(tw_after(100, 23) == 123);
    CHECK(tw_after(0, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX, 0) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX - 5, 5) == UINT64_MAX);
}

static void after_saturates(void)
{
    CHECK(tw_after(1, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX, 1) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_after(UINT64_C(1) << 63, UINT64_C(1) << 63) == UINT64_MAX);
}

static void delay_from_a_stale_clock(void)
{
    begin();
    /* The wheel's clock still reads 0 when the user's reads 1000. */
    start('a', tw_after(1000, 5));
    FIRES(1004, "");
    FIRES(1005, "a");
    end();
}

/* tw_now is still the time before the sleep. A delay must not count from it. */
static void delay_from_before_the_sleep(void)
{
    begin();
    FIRES(1000, "");
    CHECK(tw_now(&tw) == 1000); /* and 60,000 later the loop wakes */
    start('a', tw_after(tw_now(&tw), 30000));
    start('b', tw_after(61000, 30000));
    FIRES(61000, "a"); /* at once */
    FIRES(90999, "");
    FIRES(91000, "b");
    end();
}

static void endless_delay_stays(void)
{
    begin_at(1000);
    start('a', tw_after(1000, UINT64_MAX));
    FIRES(UINT64_MAX - 1, "");
    FIRES(UINT64_MAX, "a");
    end();
}

/* ------------------------------------------------------------ promise 6 --- */

static void backwards_fires_nothing(void)
{
    begin_at(1000);
    start('a', 1001);
    for (uint64_t now = 0; now < 1000; now += 37)
        FIRES(now, "");
    CHECK(tw_now(&tw) == 1000);
    FIRES(1001, "a");
    end();
}

static void backwards_fires_what_is_owed(void)
{
    begin_at(1000);
    start('a', 5);
    start('b', 1001);
    FIRES(4, "a");
    CHECK(tw_now(&tw) == 1000);
    end();
}

static void backwards_by_half_of_time(void)
{
    begin_at(UINT64_MAX);
    FIRES(UINT64_MAX >> 1, "");
    FIRES(0, "");
    CHECK(tw_now(&tw) == UINT64_MAX);
    end();
}

static void backwards_after_a_jump(void)
{
    begin();
    start('a', 300);
    FIRES(299, "");
    FIRES(100, "");
    start('b', 298); /* passed, though the user's clock says 100 */
    FIRES(100, "b");
    FIRES(300, "a");
    end();
}

static void backwards_within_a_tick(void)
{
    set_up(10, 0, 0, 0);
    FIRES(57, "");
    FIRES(53, "");
    CHECK(tw_now(&tw) == 57);
    start('a', 55);
    FIRES(59, "");
    FIRES(60, "a");
    end();
}

static void backwards_wait(void)
{
    begin_at(1000);
    start('a', 1050);
    CHECK(tw_wait(&tw, 900, 500) == 150); /* by the caller's own clock */
    end();
}

/* ------------------------------------------------------------ promise 7 --- */

static const uint64_t starts[] = {
    0,
    1,
    255,
    256,
    UINT64_C(0x7fffffff),
    UINT64_C(0x80000000),
    UINT64_C(0xffffffff),
    UINT64_C(0x100000000),
    UINT64_C(0x7ffffffffffffffe),
    UINT64_C(0x7fffffffffffffff),
    UINT64_C(0x8000000000000000),
    UINT64_C(0xffffffff00000000),
    UINT64_C(0xffffffffffffff00),
    UINT64_C(0xfffffffffffffffe),
};

#define STARTS (sizeof starts / sizeof *starts)

static void from_every_start(void)
{
    for (size_t i = 0; i < STARTS; i++)
        for (unsigned bit = 0; bit < 64; bit++) {
            uint64_t delay = UINT64_C(1) << bit;
            if (delay > UINT64_MAX - starts[i])
                continue;
            begin_at(starts[i]);
            start('a', starts[i] + delay);
            CHECK(next() == starts[i] + delay);
            FIRES(starts[i] + delay - 1, "");
            FIRES(starts[i] + delay, "a");
            end();
        }
}

static void the_last_moment(void)
{
    for (size_t i = 0; i < STARTS; i++) {
        begin_at(starts[i]);
        start('a', UINT64_MAX);
        start('b', UINT64_MAX);
        FIRES(UINT64_MAX - 1, "");
        FIRES(UINT64_MAX, "ab");
        end();
    }
}

static void at_the_end_of_time(void)
{
    begin_at(UINT64_MAX);
    CHECK(start('a', UINT64_MAX) == TW_OK);
    CHECK(start('b', 0) == TW_OK);
    CHECK(tw_wait(&tw, UINT64_MAX, 100) == 0);
    FIRES(UINT64_MAX, "ab");
    CHECK(tw_now(&tw) == UINT64_MAX);
    end();
}

/* Timers start for 2^63, 2^62 and so on, and fire in the opposite order. */
static void every_power_of_two(void)
{
    static tw_timer timers[64];
    static const tw_timer idle;
    begin();
    for (unsigned bit = 64; bit-- > 0;) {
        timers[bit] = idle;
        CHECK(tw_start(&tw, &timers[bit], UINT64_C(1) << bit) == TW_OK);
        CHECK(next() == UINT64_C(1) << bit);
    }
    for (unsigned bit = 0; bit < 64; bit++)
        CHECK(tw_poll(&tw, UINT64_MAX) == &timers[bit]);
    CHECK(tw_poll(&tw, UINT64_MAX) == NULL);
    end();
}

static void smallest_wheels_reach_everything(void)
{
    set_up(1, 0, 2, 0);
    start('a', UINT64_MAX);
    start('b', UINT64_C(1) << 63);
    start('c', UINT64_MAX - 1);
    start('d', 1);
    FIRES(UINT64_C(1) << 63, "db");
    FIRES(UINT64_MAX - 1, "c");
    FIRES(UINT64_MAX, "a");
    end();
}

static void unreachable_tick(void)
{
    set_up(10, 0, 0, 0); /* 2^64 - 1 ends in 5 */
    start('a', UINT64_MAX);
    start('b', UINT64_MAX - 5);
    start('c', UINT64_MAX - 4);
    CHECK(next() == UINT64_MAX - 5);
    FIRES(UINT64_MAX, "b");
    CHECK(tw_count(&tw) == 2);
    FIRES(UINT64_MAX, "");
    CHECK(state_of('a') == TW_PENDING);
    end();
}

/* True if no pending timer wakes the loop. */
static bool wakes_nobody(void)
{
    uint64_t deadline = 12345;
    return !tw_next_deadline(&tw, &deadline) && deadline == 12345 &&
           tw_wait(&tw, tw_now(&tw), 50) == 50 &&
           tw_wait(&tw, UINT64_MAX, UINT64_MAX) == UINT64_MAX;
}

/* The loop of the manual's synopsis, with at most 10 turns. */
static int turns_until_asleep(void)
{
    uint64_t now;
    int turns = 0;
    for (; turns < 10 && tw_next_deadline(&tw, &now); turns++)
        tw_advance_clock(&tw, now);
    return turns;
}

/* Other timers wake the loop as usual: a due timer, an overdue timer, and once
 * a timer that was postponed to an unreachable tick. */
static void unreachable_wakes_nobody(void)
{
    set_up(10, 0, 0, 0);
    start('a', tw_after(1000, UINT64_MAX)); /* saturates */
    CHECK(tw_count(&tw) == 1 && wakes_nobody());
    CHECK(turns_until_asleep() == 0);
    start('b', 25);
    CHECK(next() == 30);
    CHECK(turns_until_asleep() == 1 && state_of('b') == TW_FIRED);
    start('b', 3);
    CHECK(next() <= tw_now(&tw) && tw_wait(&tw, 30, 50) == 0);
    CHECK(turns_until_asleep() == 1 && state_of('b') == TW_FIRED);
    start('b', 45);
    CHECK(postpone('b', UINT64_MAX - 1) == TW_OK);
    CHECK(turns_until_asleep() == 1 && wakes_nobody());
    CHECK(state_of('a') == TW_PENDING && state_of('b') == TW_PENDING);
    CHECK(tw_cancel(&tw, timer_of('a')) && wakes_nobody());
    FIRES(UINT64_MAX, "");
    CHECK(state_of('b') == TW_PENDING && wakes_nobody());
    end();
}

static void unreachable_wait(void)
{
    set_up(10, UINT64_MAX - 100, 0, 0);
    start('a', UINT64_MAX);
    CHECK(tw_wait(&tw, UINT64_MAX - 100, 50) == 50);
    FIRES(UINT64_MAX, "");
    CHECK(tw_wait(&tw, UINT64_MAX, 50) > 0); /* no reason to spin */
    end();
}

static void unreachable_can_be_taken_out(void)
{
    set_up(10, 0, 0, 0);
    start('a', UINT64_MAX);
    start('b', UINT64_MAX);
    start('c', UINT64_MAX);
    CHECK(cancel('a'));
    CHECK(start('b', 50) == TW_OK);
    FIRES(UINT64_MAX, "b");
    CHECK(tw_drain(&tw, NULL, NULL) == 1);
    CHECK(state_of('c') == TW_IDLE);
    end();
}

static void ticks_that_do_not_divide(void)
{
    static const uint64_t ticks[] = {3, 7, 10, 1000, 999983, INT64_MAX};
    for (int i = 0; i < 6; i++) {
        uint64_t last = UINT64_MAX / ticks[i] * ticks[i];
        set_up(ticks[i], UINT64_MAX - UINT64_MAX / 3, 0, 0);
        start('a', last);
        start('b', last - 1);
        FIRES(last - 1, "");
        FIRES(last, "ab");
        start('c', last < UINT64_MAX ? last + 1 : last);
        FIRES(UINT64_MAX, last < UINT64_MAX ? "" : "c");
        end();
    }
}

static void tick_of_three(void)
{
    set_up(INT64_MAX, 0, 0, 0);
    start('a', 1);
    start('b', UINT64_C(0xfffffffffffffffe));
    start('c', UINT64_MAX); /* its tick is the third: beyond 64 bits */
    FIRES(UINT64_C(0x7ffffffffffffffe), "");
    FIRES(UINT64_C(0x7fffffffffffffff), "a");
    FIRES(UINT64_C(0xfffffffffffffffd), "");
    FIRES(UINT64_MAX, "b");
    CHECK(tw_count(&tw) == 1);
    end();
}

/* The clock reaches two ticks, 0 and 1. */
static void longest_ticks(void)
{
    static const uint64_t ticks[] = {UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1,
                                     UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        uint64_t deadline = 0;
        set_up(ticks[i], 0, 0, 0);
        start('a', 1);
        start('b', ticks[i]);
        if (ticks[i] != UINT64_MAX)
            start('c', UINT64_MAX);
        FIRES(ticks[i] - 1, "");
        CHECK(tw_next_deadline(&tw, &deadline) && deadline == ticks[i]);
        CHECK(tw_wait(&tw, 7, UINT64_MAX) == ticks[i] - 7);
        FIRES(ticks[i], "ab");
        FIRES(UINT64_MAX, "");
        CHECK(tw_count(&tw) == (ticks[i] != UINT64_MAX));
        end();
        set_up(ticks[i], UINT64_MAX, 0, 0);
        start('a', 1);
        FIRES(0, "a");
        end();
    }
}

static void one_jump_over_all_of_time(void)
{
    begin();
    random_state = 7;
    for (int i = 0; i < 26; i++)
        start((char)('a' + i), random_below(UINT64_MAX));
    clear_log();
    CHECK(tw_advance_clock(&tw, UINT64_MAX) == 26);
    for (size_t i = 1; i < fired_count; i++)
        CHECK(fired_at[i - 1] <= fired_at[i]);
    end();
}

static const tap_case time_cases[] = {
    {"promise 1: with tick 1 a timer fires at its deadline", exact_tick_one},
    {"promise 1: a deadline inside a tick is rounded up", rounded_up},
    {"promise 1: a deadline on a tick is not rounded", on_a_tick},
    {"promise 1: a clock inside a tick is rounded down", clock_inside_a_tick},
    {"promise 1: a deadline equal to the clock fires at once",
     deadline_is_the_clock},
    {"promise 1: every delay from every phase of a tick fires in time",
     every_phase_and_delay},
    {"promise 1: ticks up to 2^63 - 1 fire in time", big_ticks},
    {"promise 1: delays around every wheel's span fire in time",
     around_every_span},
    {"promise 1: every delay of three turns fires in time from every phase",
     each_tick_of_three_turns},
    {"promise 1: a clock that walks tick by tick fires each timer in time",
     walked_tick_by_tick},
    {"promise 1: a timer fires once", fires_once},
    {"promise 1: random ticks, clocks, wheels and deadlines fire in time",
     never_early_random},
    {"promise 2: an empty wheel jumps 100,000 times and allocates nothing",
     empty_jumps},
    {"promise 2: the clock jumps by 2^63", jump_of_two_to_63},
    {"promise 2: a quiet span moves and allocates nothing",
     quiet_span_moves_nothing},
    {"promise 2: a lone timer an hour away takes one wake-up", lone_far_timer},
    {"promise 2: a short timer after an idle time is placed in the finest "
     "wheel",
     short_after_idle},
    {"promise 3: a callback sees the tick of its timer", callback_clock},
    {"promise 3: the clock in a callback is a multiple of tick",
     callback_clock_on_ticks},
    {"promise 3: a timer started up to the target fires within the call",
     started_up_to_target},
    {"promise 3: a timer started for the target fires within the call",
     started_at_target},
    {"promise 3: a timer started beyond the target fires later",
     started_beyond_target},
    {"promise 3: a timer started for a tick with other timers fires after them",
     started_behind_its_equals},
    {"promise 5: a timer started for the firing tick waits for the next call",
     started_beside_its_equals},
    {"promise 3: a timer started in a coarse wheel fires within the call",
     started_in_a_far_wheel},
    {"promise 3: a chain of a thousand starts fires within one call",
     chain_within_one_call},
    {"promise 3: a chain of starts across buckets and wheels fires in one call",
     chain_with_big_steps},
    {"promise 4: tw_after adds a delay", after_adds},
    {"promise 4: tw_after saturates", after_saturates},
    {"promise 4: a delay counts from the time just read",
     delay_from_a_stale_clock},
    {"promise 4: a delay added to tw_now after a sleep is too short",
     delay_from_before_the_sleep},
    {"promise 4: an endless delay stays pending up to 2^64 - 1",
     endless_delay_stays},
    {"promise 6: a time below the clock fires nothing and leaves the clock "
     "alone",
     backwards_fires_nothing},
    {"promise 6: a time below the clock fires overdue timers",
     backwards_fires_what_is_owed},
    {"promise 6: a step back by 2^63 or more is harmless",
     backwards_by_half_of_time},
    {"promise 6: the clock goes on after a step back", backwards_after_a_jump},
    {"promise 6: a step back within a tick leaves the clock alone",
     backwards_within_a_tick},
    {"promise 6: tw_wait counts from a time below the clock", backwards_wait},
    {"promise 7: delays 2^k fire in time from 0, 2^31, 2^32, 2^63 and 2^64",
     from_every_start},
    {"promise 7: the deadline 2^64 - 1 is no special value", the_last_moment},
    {"promise 7: a timer started at 2^64 - 1 fires at once",
     at_the_end_of_time},
    {"promise 7: timers at every power of two fire in order",
     every_power_of_two},
    {"promise 7: wheels of 2 reach all 64 bits",
     smallest_wheels_reach_everything},
    {"promise 7: a tick that the clock cannot reach stays pending",
     unreachable_tick},
    {"promise 7: a tick that the clock cannot reach never wakes the loop",
     unreachable_wakes_nobody},
    {"promise 7: tw_wait is above 0 while only an unreachable timer is pending",
     unreachable_wait},
    {"promise 7: an unreachable timer can be cancelled, moved and drained",
     unreachable_can_be_taken_out},
    {"promise 7: ticks that do not divide 2^64 end with the last whole tick",
     ticks_that_do_not_divide},
    {"promise 7: a tick of 2^63 - 1 fires at both its multiples",
     tick_of_three},
    {"promise 7: a tick of 2^63 or more has two multiples, 0 and itself",
     longest_ticks},
    {"promise 7: one jump over all 64 bits fires all timers in order",
     one_jump_over_all_of_time},
};

TAP_MAIN(time_cases)
