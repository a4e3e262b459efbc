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
#define MS 1
#include "judge.h"
#include <emscripten.h>
#include <emscripten/eventloop.h>

static long interval, wake;
static uint64_t wake_deadline; /* the deadline of `wake`; 0: not set */

static void on_wake(void *context);

static void move_wake(void)
{
    uint64_t deadline = 0;
    tw_next_deadline(&wheel, &deadline);
    if (deadline == wake_deadline)
        return;
    emscripten_clear_timeout(wake);
    if (deadline != 0)
        wake = emscripten_set_timeout(
            on_wake, (double)tw_wait(&wheel, now, INT32_MAX), NULL);
    wake_deadline = deadline;
}

static void advance(void)
{
    now = steady((uint64_t)emscripten_get_now());
    tw_advance_clock(&wheel, now);
}

static void on_wake(void *context)
{
    (void)context;
    advance();
    wake_deadline = 0; /* gone off */
    move_wake();
    if (!judge_turn())
        emscripten_force_exit(judge_end("browser", true));
}

static void on_message(void *context)
{
    (void)context;
    advance();
    judge_event();
    move_wake();
    if (judge.events == EVENTS)
        emscripten_clear_interval(interval);
    judge_turn();
}

int main(void)
{
    now = steady((uint64_t)emscripten_get_now());
    tw_init(&wheel, &(tw_config){.start = now});
    interval = emscripten_set_interval(on_message, 24, NULL);
    return 0; /* the page lives on */
}
