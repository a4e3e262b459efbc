/* call.c - TW_CALL in C: a lock around each callback, counts, lateness, and
 * callbacks that are put off. call.cpp does the same with C++.
 *
 *     call [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>

/* First the declarations, then TW_CALL, then the code. */
#define TW_STATIC
#include "../../timingwheel.h"

static void call(timingwheel *tw, tw_timer *timer);

#define TW_CALL(tw, timer) call((tw), (timer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

#define TIMERS 100

static timingwheel tw;
static tw_timer timers[TIMERS];

static uint64_t clock_now;   /* the reading of the loop's clock */
static uint64_t takes;       /* time of each callback */
static bool is_locked;       /* the lock of the loop is taken */
static size_t locked;        /* how often the lock was taken */
static size_t unlocked_runs; /* callbacks that ran without the lock */
static size_t runs;          /* callbacks that ran */
static uint64_t most_late;   /* the longest time from a deadline to callback */
static uint64_t longest;     /* the longest time of a callback */
static tw_callback *slowest; /* the callback of that time */
static bool puts_off;        /* callbacks run after the call */
static tw_timer *put_off[TIMERS];
static size_t put_off_count;

static void call(timingwheel *wheel, tw_timer *timer)
{
    tw_callback *callback = timer->callback;
    uint64_t began = clock_now, deadline = tw_deadline(timer);
    CHECK(wheel == &tw && callback != NULL);
    CHECK(tw_timer_state(timer) == TW_FIRED);
    if (puts_off) {
        put_off[put_off_count++] = timer;
        return;
    }
    CHECK(!is_locked);
    is_locked = true;
    locked++;
    callback(wheel, timer); /* may free the timer */
    is_locked = false;
    if (began - deadline > most_late)
        most_late = began - deadline;
    if (clock_now - began > longest) {
        longest = clock_now - began;
        slowest = callback;
    }
}

static void on_fire(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    runs++;
    unlocked_runs += !is_locked;
    clock_now += takes;
}

static void on_fire_slowly(timingwheel *wheel, tw_timer *timer)
{
    on_fire(wheel, timer);
    clock_now += 50;
}

static void on_fire_again(timingwheel *wheel, tw_timer *timer)
{
    on_fire(wheel, timer);
    CHECK(tw_start(wheel, timer, tw_after(tw_now(wheel), 10)) == TW_OK);
}

static void on_fire_free(timingwheel *wheel, tw_timer *timer)
{
    on_fire(wheel, timer);
    free(timer);
}

static void set_up(void)
{
    CHECK(tw_init(&tw, NULL) == TW_OK);
    for (size_t i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], on_fire);
    clock_now = takes = most_late = longest = 0;
    locked = unlocked_runs = runs = put_off_count = 0;
    puts_off = is_locked = false;
    slowest = NULL;
}

static void tear_down(void)
{
    CHECK(!is_locked && tw_check(&tw));
    tw_destroy(&tw);
}

/* Many ticks, one tick, overdue timers, and the buckets of several wheels. */
static void start_all(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        CHECK(tw_start(&tw, &timers[i], i % 4 * 1000 + i / 40) == TW_OK);
}

static void takes_a_lock(void)
{
    set_up();
    start_all();
    CHECK(tw_advance_clock(&tw, 0) + tw_advance_clock(&tw, 1500) +
              tw_advance_clock_limit(&tw, 5000, 7) +
              tw_advance_clock(&tw, 5000) ==
          TIMERS);
    CHECK(runs == TIMERS && locked == TIMERS && unlocked_runs == 0);
    tear_down();
}

static void lock_and_restarts(void)
{
    set_up();
    for (size_t i = 0; i < 3; i++) {
        tw_timer_init(&timers[i], on_fire_again);
        CHECK(tw_start(&tw, &timers[i], 10) == TW_OK);
    }
    CHECK(tw_advance_clock(&tw, 100) == 30);
    CHECK(runs == 30 && locked == 30 && unlocked_runs == 0);
    tear_down();
}

static void nothing_to_call(void)
{
    set_up();
    tw_timer_init(&timers[0], NULL);
    CHECK(tw_start(&tw, &timers[0], 5) == TW_OK);
    CHECK(tw_start(&tw, &timers[1], 5) == TW_OK);
    CHECK(tw_advance_clock(&tw, 5) == 2);
    CHECK(locked == 1 && runs == 1);
    CHECK(tw_timer_state(&timers[0]) == TW_FIRED);
    tear_down();
}

static void poll_calls_nothing(void)
{
    set_up();
    CHECK(tw_start(&tw, &timers[0], 5) == TW_OK);
    CHECK(tw_poll(&tw, 5) == &timers[0]);
    CHECK(locked == 0 && runs == 0);
    tear_down();
}

static void cancel_and_drain_call_nothing(void)
{
    set_up();
    start_all();
    CHECK(tw_cancel(&tw, &timers[1]));
    CHECK(tw_drain(&tw, NULL, NULL) == TIMERS - 1);
    CHECK(locked == 0 && runs == 0);
    tear_down();
}

/* The loop comes 30 late, and each callback takes 2. */
static void measures_lateness(void)
{
    set_up();
    takes = 2;
    for (size_t i = 0; i < 5; i++)
        CHECK(tw_start(&tw, &timers[i], 100) == TW_OK);
    clock_now = 130;
    CHECK(tw_advance_clock(&tw, clock_now) == 5);
    CHECK(most_late == 30 + 4 * 2 && longest == 2);
    tear_down();
}

static void finds_slow_callback(void)
{
    set_up();
    takes = 1;
    tw_timer_init(&timers[60], on_fire_slowly);
    start_all();
    clock_now = 5000;
    CHECK(tw_advance_clock(&tw, clock_now) == TIMERS);
    CHECK(slowest == on_fire_slowly && longest == 51);
    tear_down();
}

static void timer_is_freed(void)
{
    set_up();
    for (size_t i = 0; i < 40; i++) {
        tw_timer *timer = (tw_timer *)malloc(sizeof(*timer));
        if (timer == NULL)
            abort();
        tw_timer_init(timer, on_fire_free);
        CHECK(tw_start(&tw, timer, 10 + i % 3) == TW_OK);
    }
    CHECK(tw_advance_clock(&tw, 20) == 40 && locked == 40);
    tear_down();
}

/* TW_CALL need not call: here it leaves the callbacks to the loop. */
static void callbacks_are_put_off(void)
{
    set_up();
    puts_off = true;
    start_all();
    CHECK(tw_advance_clock(&tw, 5000) == TIMERS && runs == 0);
    CHECK(put_off_count == TIMERS && tw_count(&tw) == 0);
    puts_off = false;
    for (size_t i = 0; i < put_off_count; i++)
        TW_CALL(&tw, put_off[i]);
    CHECK(runs == TIMERS && unlocked_runs == 0);
    tear_down();
}

static const tap_case cases[] = {
    {"TW_CALL: each callback runs under a lock", takes_a_lock},
    {"TW_CALL: timers may restart themselves", lock_and_restarts},
    {"TW_CALL: is not used for a timer without a callback", nothing_to_call},
    {"TW_CALL: is not used by tw_poll", poll_calls_nothing},
    {"TW_CALL: is not used by tw_cancel and tw_drain",
     cancel_and_drain_call_nothing},
    {"TW_CALL: measures lateness and callback time", measures_lateness},
    {"TW_CALL: finds the slowest callback", finds_slow_callback},
    {"TW_CALL: a callback may free its timer", timer_is_freed},
    {"TW_CALL: callbacks may run after the call", callbacks_are_put_off},
};

TAP_MAIN(cases)
