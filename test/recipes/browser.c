/* browser.c - many timers on one setTimeout, in a page or in node.
 *
 * Says when nobody has typed for 250 ms. The one setTimeout moves only when the
 * next deadline changes. A hidden page wakes once a second: timers are late
 * then, and fire in order. For a page, build with -o browser.html.
 *
 *     emcc -std=gnu99 -Wall -Wextra -sSINGLE_FILE browser.c -o browser.js \
 *         && node browser.js
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <emscripten.h>
#include <emscripten/eventloop.h>
#include <stdio.h>

#define MS UINT64_C(1000) /* in microseconds */

struct session {
    tw_timer silence;
    unsigned count;
};

/* Input that has come beats the timeout: after a stall its event may still wait
 * behind setTimeout. So the session gets one more turn. */
static void on_silence(timingwheel *tw, tw_timer *timer)
{
    struct session *s = TW_OWNER(timer, struct session, silence);
    if (tw_deadline(timer) > 0) {
        tw_start(tw, timer, 0); /* fires in the next turn, the second time */
        return;
    }
    printf("silence %u\n", ++s->count);
    fflush(stdout);
}

static timingwheel timers;
static struct session session = {TW_TIMER_INIT(on_silence), 0};
static long wake;
static uint64_t wake_at; /* the deadline of `wake`; 0: not set */

static uint64_t clock_us(void)
{
    return (uint64_t)(emscripten_get_now() * 1000); /* a double, in ms */
}

static void set_wake(void);

static void on_wake(void *unused)
{
    (void)unused;
    tw_advance_clock(&timers, clock_us());
    wake_at = 0; /* gone off */
    set_wake();
}

static void set_wake(void)
{
    uint64_t next;
    if (!tw_next_deadline(&timers, &next) || next == wake_at)
        return;
    uint64_t wait = tw_wait(&timers, clock_us(), 86400 * 1000 * MS);
    double rounded_up = (double)((wait + MS - 1) / MS);
    emscripten_clear_timeout(wake);
    wake = emscripten_set_timeout(on_wake, rounded_up, NULL);
    wake_at = next;
}

/* For JavaScript. */
EMSCRIPTEN_KEEPALIVE void on_input(void)
{
    tw_postpone_after(&timers, &session.silence, clock_us(), 250 * MS);
    set_wake();
}

int main(void)
{
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_us()});
    EM_ASM({
        if (typeof document == 'object')
            document.addEventListener('keydown', _on_input);
        else
            process.stdin.on('data', _on_input);
    });
    emscripten_exit_with_live_runtime(); /* the page lives on */
}
