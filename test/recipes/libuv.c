/* libuv.c - many timers on one uv_timer_t, in the loop of libuv.
 *
 * Says when you have not typed for 250 ms. A uv_prepare_t sets the one timer of
 * libuv before each sleep: it repeats, so that the loop lives while it is set.
 * uv_hrtime costs 20 ns. uv_now would cost up to the length of a turn, plus a
 * millisecond, of each delay, because libuv reads it once a turn and cuts it.
 *
 *     cc -std=c99 -Wall -Wextra libuv.c -luv -o libuv && ./libuv
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

#define MS UINT64_C(1000000) /* in nanoseconds */

struct session {
    tw_timer silence;
    unsigned count;
};

/* Input that has come beats the timeout. A stream of libuv (uv_read_start) can
 * not be read here, so the session gets one more turn. That is enough: libuv
 * handles up to 48 * 1,024 ready events between two runs of its timers. */
static void on_silence(timingwheel *tw, tw_timer *timer)
{
    struct session *s = TW_OWNER(timer, struct session, silence);
    if (tw_deadline(timer) > 0) {
        tw_start(tw, timer, 0); /* fires in the next turn, the second time */
        return;
    }
    dprintf(1, "silence %u\n", ++s->count);
}

static timingwheel timers;
static struct session session = {TW_TIMER_INIT(on_silence), 0};
static uv_timer_t wake;

static void on_wake(uv_timer_t *handle)
{
    (void)handle;
    tw_advance_clock(&timers, uv_hrtime());
}

static void on_prepare(uv_prepare_t *handle)
{
    uint64_t wait = tw_wait(&timers, uv_hrtime(), 1000 * MS);
    uv_update_time(handle->loop); /* the wait counts from uv_now */
    uv_timer_start(&wake, on_wake, (wait + MS - 1) / MS, 1);
    if (tw_count(&timers) == 0)
        uv_timer_stop(&wake);
}

static void on_input(uv_poll_t *handle, int status, int events)
{
    char bytes[4096];
    (void)events;
    if (status >= 0 && read(0, bytes, sizeof(bytes)) > 0)
        tw_postpone_after(&timers, &session.silence, uv_hrtime(), 250 * MS);
    else
        uv_close((uv_handle_t *)handle, NULL);
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    uv_poll_t input;
    uv_prepare_t prepare;
    tw_init(&timers, &(tw_config){.tick = MS, .start = uv_hrtime()});
    uv_timer_init(loop, &wake);
    uv_prepare_init(loop, &prepare);
    uv_prepare_start(&prepare, on_prepare);
    uv_unref((uv_handle_t *)&prepare);
    if (uv_poll_init(loop, &input, 0) != 0)
        return fprintf(stderr, "libuv polls no file\n"), 1;
    uv_poll_start(&input, UV_READABLE, on_input);
    while (uv_run(loop, UV_RUN_DEFAULT), tw_count(&timers) > 0)
        on_prepare(&prepare); /* a timer has started as the loop ended */
    tw_destroy(&timers);
    uv_close((uv_handle_t *)&prepare, NULL);
    uv_close((uv_handle_t *)&wake, NULL);
    uv_run(loop, UV_RUN_DEFAULT); /* closes both */
    return uv_loop_close(loop);
}
