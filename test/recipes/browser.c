/* browser.c - timingwheel.h in a page, or under node, built by emscripten.
 *
 * One setTimeout carries the wheel and moves only when the next deadline
 * changes. The clock is performance.now, in whole milliseconds, as setTimeout
 * counts. A setTimeout beyond INT32_MAX would end at once, so longer waits are
 * cut. A browser wakes a hidden page once a second, or once a minute: timers
 * are late then, and fire in order.
 *
 * The example: an interval of 24 ms stands for messages. Each message starts
 * `soon`, due before the next one, and postpones `silence`; each fifth cancels
 * it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <emscripten.h>
#include <emscripten/eventloop.h>
#include <stdio.h>

static timingwheel wheel;
static uint64_t now; /* the reading of this turn */
static long interval, wake;
static uint64_t wake_deadline; /* what `wake` is set to; 0: not set */
static int messages, pending, fired, early, late, idle;

static void on_wake(void *context);

/* Returns milliseconds. A clock that steps back counts as standing. */
static uint64_t read_clock(void)
{
    uint64_t reading = (uint64_t)emscripten_get_now();
    return reading > now ? reading : now;
}

static void move_wake(void)
{
    double wait = (double)tw_wait(&wheel, now, INT32_MAX);
    uint64_t deadline = 0;
    tw_next_deadline(&wheel, &deadline);
    if (deadline == wake_deadline)
        return;
    if (wake_deadline != 0)
        emscripten_clear_timeout(wake);
    if (deadline != 0)
        wake = emscripten_set_timeout(on_wake, wait, NULL);
    wake_deadline = deadline;
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += now < tw_deadline(timer);
    late += now > tw_deadline(timer) + 9;
}

static void finish(void)
{
    tw_destroy(&wheel);
    printf("browser: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, pending, late, idle);
    emscripten_force_exit((early || pending || late > 10) + 2 * (idle > 10));
}

static void on_wake(void *context)
{
    (void)context;
    now = read_clock();
    idle += tw_advance_clock(&wheel, now) == 0;
    wake_deadline = 0; /* gone off */
    move_wake();
    if (messages == 20 && tw_count(&wheel) == 0)
        finish();
}

static void on_message(void *context)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    (void)context;
    now = read_clock();
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(now, 2));
    tw_postpone(&wheel, &silence, tw_after(now, 150));
    if (++messages % 5 == 0)
        pending -= tw_cancel(&wheel, &silence);
    if (messages == 20)
        emscripten_clear_interval(interval);
    tw_advance_clock(&wheel, now);
    move_wake();
}

int main(void)
{
    tw_config config = {.start = now = read_clock()};
    if (tw_init(&wheel, &config) != TW_OK)
        return 1;
    interval = emscripten_set_interval(on_message, 24, NULL);
    return 0; /* the page lives on */
}
