/* start_within.c - promise 12: tw_start_within.
 *
 *     start_within [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

static void roundest_tick(void)
{
    static const struct {
        uint64_t tick, clock, earliest, latest, expected;
    } rows[] = {
        {1, 0, 1000, 1100, 1024},
        {1, 0, 5, 7, 6},
        {1, 0, 5, 5, 5},
        {1, 0, 5, 6, 6},
        {1, 0, 255, 257, 256},
        {1, 0, 300, 700, 512},
        {1, 0, 1, UINT64_MAX, UINT64_C(1) << 63},
        {1, 0, 0, UINT64_MAX, UINT64_C(1) << 63},
        {1, 0, UINT64_MAX - 5, UINT64_MAX, UINT64_MAX - 3},
        {1, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {1, 100, 120, 140, 128},
        {1, 100, 50, 110, 104},   /* 64 has passed */
        {10, 0, 995, 1105, 1040}, /* ticks 100 to 110 */
        {10, 0, 11, 29, 20},
        {10, 0, 20, 29, 20},
        {1000, 0, 5001, 9999, 8000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_up(rows[i].tick, rows[i].clock, 0, 0);
        CHECK(start_within('a', rows[i].earliest, rows[i].latest) == TW_OK);
        CHECK(tw_deadline(timer_of('a')) == rows[i].expected);
        CHECK(next() == rows[i].expected);
        FIRES(rows[i].expected - 1, "");
        FIRES(rows[i].expected, "a");
        end();
    }
}

static void window_without_a_tick(void)
{
    set_up(10, 0, 0, 0);
    CHECK(start_within('a', 11, 19) == TW_OK); /* as tw_start(11) */
    CHECK(tw_deadline(timer_of('a')) == 11);
    FIRES(19, "");
    FIRES(20, "a");
    end();
}

static void window_reversed(void)
{
    begin();
    start('b', 50);
    remember();
    CHECK(start_within('a', 10, 9) == TW_EINVAL);
    CHECK(start_within('b', UINT64_MAX, 0) == TW_EINVAL);
    CHECK(unchanged());
    FIRES(50, "b");
    end();
}

static void window_in_the_past(void)
{
    begin_at(1000);
    CHECK(start_within('a', 10, 20) == TW_OK);
    CHECK(start_within('b', 1000, 1000) == TW_OK);
    FIRES(0, "ab");
    end();
}

static void window_around_the_clock(void)
{
    begin_at(1000);
    CHECK(start_within('a', 0, 1003) == TW_OK);
    CHECK(tw_deadline(timer_of('a')) == 1002); /* the roundest still ahead */
    FIRES(1001, "");
    FIRES(1002, "a");
    end();
}

static void window_beyond_the_last_tick(void)
{
    set_up(10, 0, 0, 0);
    CHECK(start_within('a', UINT64_MAX - 2, UINT64_MAX) == TW_OK);
    FIRES(UINT64_MAX, "");
    CHECK(tw_count(&tw) == 1);
    end();
}

static void window_moves_a_pending_timer(void)
{
    begin();
    start('a', 5);
    CHECK(start_within('a', 1000, 1100) == TW_OK);
    CHECK(tw_count(&tw) == 1);
    FIRES(1023, "");
    FIRES(1024, "a");
    end();
}

static void windows_share_a_wake_up(void)
{
    size_t idle = 0;
    begin();
    for (char name = 'a'; name <= 'z'; name++)
        start_within(name, 3900 + (uint64_t)(name - 'a'), 4100);
    CHECK(sleep_through(&idle) == 1); /* all at 4096 */
    CHECK(idle == 0);
    end();
}

static void window_is_kept(void)
{
    random_state = 77;
    for (int i = 0; i < 2000; i++) {
        uint64_t tick = 1 + random_below(20), from = random_below(100000);
        uint64_t early = from + random_below(100000);
        uint64_t late = early + random_below(1 + random_below(10000));
        set_up(tick, from, UINT32_C(2) << random_below(11), 0);
        CHECK(start_within('a', early, late) == TW_OK);
        uint64_t deadline = tw_deadline(timer_of('a'));
        CHECK(deadline >= early && deadline <= late);
        uint64_t first = early / tick + (early % tick != 0);
        if (late / tick >= first)
            CHECK(deadline % tick == 0);
        else
            CHECK(deadline == early);
        end();
    }
}

static void window_back_to_zero(void)
{
    begin_at(UINT64_MAX);
    CHECK(start_within('a', 0, UINT64_MAX) == TW_OK);
    CHECK(tw_deadline(timer_of('a')) == 0);
    FIRES(UINT64_MAX, "a");
    end();
}

static const tap_case start_within_cases[] = {
    {"promise 12: tw_start_within picks the roundest tick of the window",
     roundest_tick},
    {"promise 12: window without a tick: acts like tw_start",
     window_without_a_tick},
    {"promise 12: latest before earliest: is refused", window_reversed},
    {"promise 12: window that has passed: the timer is overdue",
     window_in_the_past},
    {"promise 12: window around the clock: picks a tick ahead",
     window_around_the_clock},
    {"promise 12: window beyond the last tick: the timer stays pending",
     window_beyond_the_last_tick},
    {"promise 12: tw_start_within moves a pending timer",
     window_moves_a_pending_timer},
    {"promise 12: windows that overlap share a wake-up",
     windows_share_a_wake_up},
    {"promise 12: the deadline is never outside of the window", window_is_kept},
    {"promise 12: window that reaches back to 0: picks tick 0",
     window_back_to_zero},
};

TAP_MAIN(start_within_cases)
