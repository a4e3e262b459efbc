/* browser.c - timingwheel.h in a page, or under node, built by emscripten.
 *
 * One setTimeout carries the wheel and moves only when the next deadline
 * changes. The clock is performance.now, in whole milliseconds, as setTimeout
 * counts. A setTimeout beyond INT32_MAX would end at once, so longer waits are
 * cut. A browser wakes a hidden page once a second, or once a minute: timers
 * are late then, and fire in order.
 *
 * The example is in judge.h; an interval stands for messages.
 *
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <emscripten.h>
#include <emscripten/eventloop.h>

#define MS 1
static uint64_t now; /* the reading of this turn, in milliseconds */
#include "judge.h"

static timingwheel tw;
static long interval, wake;
static uint64_t wake_deadline; /* the deadline of `wake`; 0: not set */

static void on_wake(void *context);

static void advance(void)
{
    uint64_t reading = (uint64_t)emscripten_get_now();
    now = reading > now ? reading : now;
    tw_advance_clock(&tw, now);
}

static void move_wake(void)
{
    double wait = (double)tw_wait(&tw, now, INT32_MAX);
    uint64_t deadline = 0;
    tw_next_deadline(&tw, &deadline);
    if (deadline == wake_deadline)
        return;
    if (wake_deadline != 0)
        emscripten_clear_timeout(wake);
    if (deadline != 0)
        wake = emscripten_set_timeout(on_wake, wait, NULL);
    wake_deadline = deadline;
}

static void on_wake(void *context)
{
    (void)context;
    advance();
    wake_deadline = 0; /* gone off */
    move_wake();
    if (judge_turn(&tw))
        return;
    tw_destroy(&tw);
    emscripten_force_exit(judge_end("browser", true));
}

static void on_message(void *context)
{
    (void)context;
    advance();
    judge_event(&tw);
    move_wake();
    if (judge.events == EVENTS)
        emscripten_clear_interval(interval);
    judge_turn(&tw);
}

int main(void)
{
    tw_config config = {.start = now = (uint64_t)emscripten_get_now()};
    if (tw_init(&tw, &config) != TW_OK)
        return 1;
    interval = emscripten_set_interval(on_message, 24, NULL);
    return 0; /* the page lives on */
}
