/* browser.c - many timers on one setTimeout, in a page or in node.
 * Says when nobody has typed for 250 ms. The one setTimeout moves only when the
 * next deadline changes. A hidden page wakes once a second, and after five
 * minutes once a minute: timers are late then, and fire in order. A worker is
 * exempt. `run` returns at once, and a callback cannot run the loop. For a
 * page, build with -o browser.html.
 *     emcc -std=gnu99 -Wall -Wextra -sSINGLE_FILE browser.c -o browser.js \
 *         && node browser.js
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <emscripten.h>
#include <emscripten/eventloop.h>
#include <stdio.h>
#define MS UINT64_C(1000) /* in microseconds */
static timingwheel timers;
static bool is_running;
static long wake;
static uint64_t wake_at; /* the deadline of `wake`; 0: not set */

static uint64_t clock_us(void)
{
    return (uint64_t)(emscripten_get_now() * 1000); /* a double, in ms */
}

static void init(void)
{
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_us()});
}
static void on_wake(void *unused);

/* Call it at the end of each handler that starts or cancels timers. */
static void arm(void)
{
    uint64_t next = 0;
    if (!is_running || !tw_next_deadline(&timers, &next))
        next = 0;
    if (next == wake_at)
        return;
    uint64_t wait = tw_wait(&timers, clock_us(), 86400 * 1000 * MS);
    double rounded_up = (double)((wait + MS - 1) / MS);
    emscripten_clear_timeout(wake);
    if (next > 0)
        wake = emscripten_set_timeout(on_wake, rounded_up, NULL);
    wake_at = next;
}

static void on_wake(void *unused)
{
    (void)unused;
    wake_at = 0; /* gone off */
    tw_advance_clock(&timers, clock_us());
    arm();
}

static void run(void)
{
    is_running = true;
    arm();
    EM_ASM(if (typeof process == 'object') process.stdin.resume());
}

/* For JavaScript, too. Then node ends, if nothing else is open. */
EMSCRIPTEN_KEEPALIVE void stop(void)
{
    is_running = false;
    arm();
    EM_ASM(if (typeof process == 'object') process.stdin.pause());
}

/* The example. Input that has come beats the timeout: after a stall its event
 * may still wait behind setTimeout. So the session gets one more turn. */
static tw_timer silence;

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    static unsigned count;
    if (tw_deadline(timer) > 0)
        tw_start(tw, timer, 0); /* fires in the next turn, the second time */
    else
        printf("silence %u\n", ++count), fflush(stdout);
}

/* For JavaScript. */
EMSCRIPTEN_KEEPALIVE void on_input(void)
{
    if (is_running)
        tw_postpone_after(&timers, &silence, clock_us(), 250 * MS);
    arm();
}

static void watch_input(void)
{
    EM_ASM({
        if (typeof document == 'object')
            document.addEventListener('keydown', _on_input);
        else
            process.stdin.on('data', _on_input);
    });
}

int main(void)
{
    init();
    tw_timer_init(&silence, on_silence);
    watch_input();
    run();
    emscripten_exit_with_live_runtime(); /* the page lives on */
}
