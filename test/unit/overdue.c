/* overdue.c - promise 5: timers with a deadline that the clock has reached.
 *
 *     overdue [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

static void overdue_fires_next(void)
{
    static const uint64_t arguments[] = {0, 1, 999, 1000, 1001, UINT64_MAX};
    for (int i = 0; i < 6; i++) {
        begin_at(1000);
        CHECK(start('a', 10) == TW_OK);
        CHECK(tw_is_pending(timer_of('a')));
        FIRES(arguments[i], "a");
        CHECK(tw_now(&tw) == (arguments[i] > 1000 ? arguments[i] : 1000));
        end();
    }
}

static void overdue_clock_is_unmoved(void)
{
    begin_at(1000);
    start('a', 10);
    FIRES(5000, "a");
    CHECK(fired_at[0] == 1000);
    end();
}

static void overdue_moves_no_clock(void)
{
    begin_at(1000);
    start('a', 999);
    start('b', 0);
    CHECK(tw_now(&tw) == 1000);
    start('c', 1003);
    FIRES(1000, "ab");
    FIRES(1002, "");
    FIRES(1003, "c");
    end();
}

static void overdue_from_callback(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start, 'b', 5);
    FIRES(100, "a");
    FIRES(0, "b");
    end();
}

static void overdue_at_the_callbacks_clock(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start, 'b', 10);
    FIRES(100, "a");
    CHECK(tw_is_pending(timer_of('b')));
    FIRES(100, "b");
    end();
}

static void rearmed_for_now(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start_after, 'a', 0);
    for (int i = 0; i < 5; i++)
        FIRES(100, "a"); /* once per call */
    CHECK(tw_count(&tw) == 1);
    end();
}

static void act_again_thrice(letter *self)
{
    if (self->value-- != 0)
        self->status = tw_start(&tw, &self->timer, tw_now(&tw));
}

/* A callback that starts its timer for now, three times. */
static void until_nothing_fires(void)
{
    begin();
    start('a', 10);
    start('b', 20);
    when_fired('a', act_again_thrice, 'a', 3);
    clear_log();
    while (tw_advance_clock(&tw, 20) != 0)
        CHECK(tw_now(&tw) == 20);
    CHECK(strcmp(fired, "abaaa") == 0);
    end();
    begin();
    start('a', 10);
    unsigned polled = 0;
    while (tw_poll(&tw, 20) == timer_of('a') && polled < 9)
        if (polled++ < 3)
            start('a', tw_now(&tw));
    CHECK(polled == 4);
    end();
}

static void overdue_from_an_overdue_callback(void)
{
    begin_at(50);
    start('a', 1);
    when_fired('a', act_start, 'b', 2);
    when_fired('b', act_start, 'c', 60);
    FIRES(100, "a");
    FIRES(100, "b");
    FIRES(100, "c");
    end();
}

static void overdue_cancelled(void)
{
    begin_at(50);
    start('a', 1);
    start('b', 1);
    CHECK(cancel('a'));
    FIRES(50, "b");
    end();
}

static void overdue_postponed(void)
{
    begin_at(50);
    start('a', 1);
    CHECK(postpone('a', 70) == TW_OK);
    FIRES(50, "");
    FIRES(69, "");
    FIRES(70, "a");
    end();
}

/* A postponed overdue timer starts again, and fires last. A postpone to an
 * equal deadline changes nothing. */
static void overdue_postponed_is_started(void)
{
    begin_at(100);
    CHECK(start('a', 90) == TW_OK);
    CHECK(start('b', 99) == TW_OK);
    CHECK(start('c', 10) == TW_OK);
    CHECK(postpone('b', 99) == TW_OK);
    CHECK(postpone('a', 95) == TW_OK);
    FIRES(102, "bca");
    end();
}

static void start_overdue_and_postpone(letter *self)
{
    self->status = tw_start(&tw, &self->other->timer, 5);
    CHECK(tw_postpone(&tw, &self->other->timer, self->value) == TW_OK);
}

/* The new deadline lies within the running call. */
static void deferred_and_postponed(void)
{
    begin();
    start('a', 10);
    start('c', 17);
    start('z', UINT64_MAX - 1);
    when_fired('a', start_overdue_and_postpone, 'b', 15);
    when_fired('b', act_start, 'd', 3);
    FIRES(UINT64_MAX, "abcz");
    FIRES(UINT64_MAX, "d");
    end();
    set_up(10, 0, 0, 0);
    start('a', 1000);
    when_fired('a', start_overdue_and_postpone, 'b', 1091);
    FIRES(2000, "ab");
    CHECK(fired_at[1] == 1100);
    end();
}

/* A limited call with nothing left to do must not move the clock past the
 * postponed timer. */
static void deferred_and_postponed_at_limit(void)
{
    begin_at(42);
    start('a', 46);
    when_fired('a', start_overdue_and_postpone, 'a', 47);
    CHECK(tw_advance_clock_limit(&tw, 49, 1) == 1);
    CHECK(tw_now(&tw) == 46);
    named('a')->act = NULL;
    clear_log();
    CHECK(tw_advance_clock_limit(&tw, 49, 9) == 1);
    CHECK(fired_at[0] == 47);
    end();
}

static void start_other(letter *self)
{
    self->status = tw_start(&tw, &self->other->timer, self->value);
}

static void deferred_comes_first(void)
{
    begin_at(100);
    start('a', 110);
    when_fired('a', start_other, 'b', 50);
    FIRES(110, "a");
    start('c', 50);
    FIRES(110, "bc");
    end();
}

static void overdue_started_again(void)
{
    begin_at(50);
    start('a', 1);
    CHECK(start('a', 70) == TW_OK);
    FIRES(69, "");
    FIRES(70, "a");
    end();
}

static void overdue_from_callback_cancelled(void)
{
    begin();
    start('a', 10);
    start('c', 12);
    when_fired('a', act_start, 'b', 5);
    when_fired('c', act_cancel, 'b', 0);
    FIRES(20, "ac");
    CHECK(named('c')->status == 1);
    FIRES(20, "");
    end();
}

static void overdue_every_tick(void)
{
    set_up(10, 105, 0, 0);
    start('a', 100); /* the clock's own tick began at 100 */
    start('b', 101); /* due at 110 */
    FIRES(105, "a");
    FIRES(109, "");
    FIRES(110, "b");
    end();
}

/* All overdue timers were cancelled. The call fires nothing and allocates
 * nothing. */
static void overdue_cancelled_is_not_sorted(void)
{
    begin_at(100);
    start('a', 5);
    start('b', 3);
    CHECK(cancel('a') && cancel('b'));
    tw_trim(&tw);
    size_t calls = memory.calls;
    FIRES(101, "");
    CHECK(memory.calls == calls);
    end();
}

/* Four calls with a limit of 1 leave timers e to h and p to s due: each call
 * leaves an overdue timer, then a timer of a tick. Timer i starts after the
 * fourth call. */
static void leave_in_four_calls(void)
{
    static const char *const fires[] = {"a", "b", "c", "d"};
    begin_at(1000);
    CHECK(tw_reserve(&tw, 200, 1000) == TW_OK);
    for (char name = 'a'; name <= 'e'; name++)
        start(name, 5);
    for (unsigned call = 0; call < 4; call++) {
        uint64_t now = 1010 + 10 * call;
        start((char)('p' + call), now);
        FIRES_AT_MOST(1, now, fires[call]);
        start((char)('f' + call), 5);
    }
}

static void overdue_left_and_trimmed(void)
{
    leave_in_four_calls();
    size_t bytes = memory.bytes;
    tw_trim(&tw);
    CHECK(memory.bytes < bytes);
    FIRES(1040, "epfqgrhis");
    end();
}

static void overdue_left_cancelled_and_trimmed(void)
{
    leave_in_four_calls();
    for (char name = 'e'; name <= 'i'; name++)
        CHECK(cancel(name));
    tw_trim(&tw);
    start('j', 5);
    FIRES(1040, "pqrjs"); /* the wheel tells at most four calls apart */
    end();
}

static const tap_case overdue_cases[] = {
    {"promise 5: an overdue timer fires in the next call, whatever the "
     "argument",
     overdue_fires_next},
    {"promise 5: the callback of an overdue timer sees the old clock",
     overdue_clock_is_unmoved},
    {"promise 5: an overdue start leaves the clock alone",
     overdue_moves_no_clock},
    {"promise 5: a timer started overdue in a callback fires in the next call",
     overdue_from_callback},
    {"promise 5: a deadline at the callback's own clock has passed",
     overdue_at_the_callbacks_clock},
    {"promise 5: a timer that restarts itself for now fires once per call",
     rearmed_for_now},
    {"promise 5: calls until nothing fires reach a timer restarted for now",
     until_nothing_fires},
    {"promise 5: an overdue start in an overdue callback waits for the next "
     "call",
     overdue_from_an_overdue_callback},
    {"promise 5: an overdue timer can be cancelled", overdue_cancelled},
    {"promise 5: an overdue timer can be postponed", overdue_postponed},
    {"promise 5: an overdue timer that is postponed is started",
     overdue_postponed_is_started},
    {"promise 5: started overdue in a callback and postponed: fires in this "
     "call",
     deferred_and_postponed},
    {"promise 5: started overdue at the limit and postponed: fires at its tick",
     deferred_and_postponed_at_limit},
    {"promise 5: overdue starts of a callback fire before later starts",
     deferred_comes_first},
    {"promise 5: an overdue timer can be started again", overdue_started_again},
    {"promise 5: an overdue start of a callback can be cancelled by another "
     "one",
     overdue_from_callback_cancelled},
    {"promise 5: whole ticks decide if a deadline has passed",
     overdue_every_tick},
    {"promise 5: cancelled overdue timers are not sorted",
     overdue_cancelled_is_not_sorted},
    {"promise 5: tw_trim keeps the order of timers left by four calls",
     overdue_left_and_trimmed},
    {"promise 5: timers left by four calls fire if the overdue ones are "
     "cancelled",
     overdue_left_cancelled_and_trimmed},
};

TAP_MAIN(overdue_cases)
