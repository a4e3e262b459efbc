/* periodic.c - timers that callbacks start again, and tw_next_period.
 *
 *     periodic [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

static void next_period_table(void)
{
    static const struct {
        uint64_t previous, period, now, expected, missed;
    } rows[] = {
        {10, 5, 10, 15, 0},
        {10, 5, 14, 15, 0},
        {10, 5, 15, 20, 1},
        {10, 5, 16, 20, 1},
        {10, 5, 3, 15, 0}, /* `now` is behind: one period on */
        {0, 5, 0, 5, 0},
        {122, 100, 250, 322, 1},
        {0, 1, 1000, 1001, 1000},
        {10, 0, 10, 11, 0}, /* period 0 acts as 1 */
        {5, 0, 7, 8, 2},
        {0, 10, UINT64_MAX, UINT64_MAX, UINT64_MAX / 10},
        {0, 1, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 1},
        {0, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {UINT64_MAX - 3, 10, UINT64_MAX - 3, UINT64_MAX, 0},
        {UINT64_MAX, 1, 0, UINT64_MAX, 0},
        {5, UINT64_MAX, 6, UINT64_MAX, 0},
        {0, UINT64_MAX, 0, UINT64_MAX, 0},
        {0, UINT64_C(1) << 63, 7, UINT64_C(1) << 63, 0},
        {UINT64_C(1) << 63, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t missed = 12345;
        CHECK(tw_next_period(rows[i].previous, rows[i].period, rows[i].now,
                             &missed) == rows[i].expected);
        CHECK(missed == rows[i].missed);
    }
}

static void next_period_without_missed(void)
{
    CHECK(tw_next_period(10, 5, 12, NULL) == 15);
    CHECK(tw_next_period(10, 5, 28, NULL) == 30);
}

static void next_period_keeps_phase(void)
{
    random_state = 8;
    for (int i = 0; i < 10000; i++) {
        uint64_t previous = random_below(UINT64_C(1) << 40), missed;
        uint64_t period = 1 + random_below(UINT64_C(1) << random_below(40));
        uint64_t now = previous + random_below(UINT64_C(1) << 42);
        uint64_t at = tw_next_period(previous, period, now, &missed);
        CHECK(at > now && at - now <= period);
        CHECK((at - previous) % period == 0);
        CHECK(missed == (at - previous) / period - 1);
    }
}

static uint64_t missed_in_all;

static void act_burst(letter *self)
{
    tw_timer *timer = &self->timer;
    tw_start(&tw, timer, tw_after(tw_deadline(timer), self->value));
}

static void act_skip(letter *self)
{
    tw_timer *timer = &self->timer;
    uint64_t missed, now = self->other->value; /* `now`: the reading of the
                                                * loop */
    tw_start(&tw, timer,
             tw_next_period(tw_deadline(timer), self->value, now, &missed));
    missed_in_all += missed;
}

static void periodic_burst(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_burst, 'a', 10);
    FIRES(45, "aaaa");
    for (size_t i = 0; i < 4; i++)
        CHECK(fired_at[i] == 10 * (i + 1));
    CHECK(next() == 50);
    end();
}

static void act_delay(letter *self)
{
    tw_start(&tw, &self->timer, tw_after(self->other->value, self->value));
}

static void periodic_delay(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_delay, 'z', 10);
    named('z')->value = 45; /* the reading */
    FIRES(45, "a");         /* once, and 10 from then on */
    CHECK(next() == 55);
    end();
}

static void periodic_skip(void)
{
    begin();
    missed_in_all = 0;
    start('a', 10);
    when_fired('a', act_skip, 'z', 10);
    named('z')->value = 45;
    FIRES(45, "a"); /* 20, 30 and 40 are skipped; the phase is kept */
    CHECK(next() == 50);
    CHECK(missed_in_all == 3);
    end();
}

static void periodic_skip_long(void)
{
    begin();
    missed_in_all = 0;
    start('a', 10);
    when_fired('a', act_skip, 'z', 10);
    named('z')->value = UINT64_C(1) << 60;
    FIRES(UINT64_C(1) << 60, "a"); /* once, after any absence */
    CHECK(missed_in_all == ((UINT64_C(1) << 60) - 10) / 10);
    end();
}

static void periodic_no_drift(void)
{
    begin();
    random_state = 17;
    start('a', 100);
    when_fired('a', act_burst, 'a', 100);
    uint64_t now = 0;
    for (int i = 0; i < 5000; i++) {
        now += random_below(130); /* wakes at random times */
        clear_log();
        tw_advance_clock(&tw, now);
        for (size_t j = 0; j < fired_count; j++)
            CHECK(fired_at[j] % 100 == 0);
    }
    CHECK(stats().fired == now / 100);
    end();
}

static void periodic_every_period(void)
{
    for (uint64_t period = 1; period <= 3 * 16; period++) {
        set_up(1, 0, 4, 0);
        start('a', period);
        when_fired('a', act_burst, 'a', period);
        clear_log();
        CHECK(tw_advance_clock(&tw, 20 * period) == 20);
        for (size_t i = 0; i < 20; i++)
            CHECK(fired_at[i] == (i + 1) * period);
        end();
    }
}

static void periodic_to_the_end(void)
{
    begin_at(UINT64_MAX - 25);
    start('a', UINT64_MAX - 20);
    when_fired('a', act_burst, 'a', 9);
    FIRES(UINT64_MAX - 1, "aaa"); /* at -20, -11 and -2 */
    FIRES(UINT64_MAX, "a");       /* saturated */
    FIRES(UINT64_MAX, "a");       /* and then once a call */
    end();
}

static const tap_case periodic_cases[] = {
    {"periodic: tw_next_period returns the first period after now",
     next_period_table},
    {"periodic: `missed` may be NULL", next_period_without_missed},
    {"periodic: tw_next_period keeps the phase", next_period_keeps_phase},
    {"periodic: the catch-up policy fires every period", periodic_burst},
    {"periodic: the drift policy counts from now", periodic_delay},
    {"periodic: the skip policy keeps the phase", periodic_skip},
    {"periodic: the skip policy fires once after a long sleep",
     periodic_skip_long},
    {"periodic: 5,000 late wake-ups cause no drift", periodic_no_drift},
    {"periodic: every period of three turns fires in time",
     periodic_every_period},
    {"periodic: a period that saturates fires at 2^64 - 1",
     periodic_to_the_end},
};

TAP_MAIN(periodic_cases)
