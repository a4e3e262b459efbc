/* libuv.c - many timers on one uv_timer_t, in the loop of libuv.
 * Says when you have not typed for 250 ms. A uv_prepare_t sets the one timer of
 * libuv before each sleep. It repeats, so that the loop lives while it is set.
 * uv_hrtime costs 20 ns. uv_now would cost up to the length of a turn, plus a
 * millisecond, of each delay, because libuv reads it once a turn and cuts it.
 * A callback must not call uv_run.
 *     cc -std=c99 -Wall -Wextra libuv.c -luv -o libuv && ./libuv
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>
#include <unistd.h>
#include <uv.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
static timingwheel timers;
static uv_timer_t wake;
static uv_prepare_t prepare;
static void on_wake(uv_timer_t *handle)
{
    (void)handle;
    tw_advance_clock(&timers, uv_hrtime());
}

static void arm(uv_prepare_t *unused)
{
    uint64_t wait = tw_wait(&timers, uv_hrtime(), 1000 * MS);
    (void)unused;
    uv_update_time(wake.loop); /* the wait counts from uv_now */
    uv_timer_start(&wake, on_wake, (wait + MS - 1) / MS, 1);
    if (tw_count(&timers) == 0)
        uv_timer_stop(&wake);
}

static void init(void)
{
    uv_loop_t *loop = uv_default_loop();
    tw_init(&timers, &(tw_config){.tick = MS, .start = uv_hrtime()});
    uv_timer_init(loop, &wake);
    uv_prepare_init(loop, &prepare);
    uv_prepare_start(&prepare, arm);
    uv_unref((uv_handle_t *)&prepare);
}

/* Until `stop`, or until neither timers nor other handles are left. */
static void run(void)
{
    do
        arm(NULL); /* the last handler may have started a timer */
    while (uv_run(wake.loop, UV_RUN_DEFAULT) == 0 && tw_count(&timers) > 0);
}

void stop(void)
{
    uv_stop(wake.loop);
}

/* The example. Input that has come beats the timeout. A stream (uv_read_start)
 * cannot be read here, so the session gets one more turn. That is enough: libuv
 * handles up to 48 * 1,024 ready events between two runs of its timers. */
static tw_timer silence;
static uv_poll_t input;
static void on_silence(timingwheel *tw, tw_timer *timer)
{
    static unsigned count;
    if (tw_deadline(timer) > 0)
        tw_start(tw, timer, 0); /* fires in the next turn, the second time */
    else
        dprintf(1, "silence %u\n", ++count);
}

static void on_input(uv_poll_t *handle, int status, int events)
{
    char bytes[4096];
    (void)events;
    if (status >= 0 && read(0, bytes, sizeof(bytes)) > 0)
        tw_postpone_after(&timers, &silence, uv_hrtime(), 250 * MS);
    else
        uv_close((uv_handle_t *)handle, NULL);
}

static bool watch_input(void)
{
    return uv_poll_init(wake.loop, &input, 0) == 0 &&
           uv_poll_start(&input, UV_READABLE, on_input) == 0;
}

int main(void)
{
    init();
    tw_timer_init(&silence, on_silence);
    if (!watch_input())
        return fprintf(stderr, "libuv polls no file\n"), 1;
    run();
    tw_destroy(&timers);
    uv_close((uv_handle_t *)&prepare, NULL);
    uv_close((uv_handle_t *)&wake, NULL);
    uv_run(wake.loop, UV_RUN_DEFAULT); /* closes them */
    return uv_loop_close(wake.loop);
}
