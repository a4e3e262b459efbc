/* libuv.c - timingwheel.h in libuv's loop, carried by one uv_timer_t.
 *
 * The clock is the loop's own, uv_now: milliseconds, monotonic, read once a
 * turn. Long work in a callback leaves uv_now behind; then call uv_update_time.
 * Each event advances the wheel first, which costs little for a second event.
 *
 *     cc libuv.c -luv -o libuv && ./libuv      (the example is in judge.h)
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define MS 1
#include "judge.h"
#include <uv.h>

static uv_loop_t loop;
static uv_timer_t wake;

static void on_wake(uv_timer_t *handle)
{
    (void)handle;
    now = steady(uv_now(&loop));
    tw_advance_clock(&wheel, now);
}

/* Before each sleep. */
static void on_prepare(uv_prepare_t *handle)
{
    (void)handle;
    now = steady(uv_now(&loop));
    uv_timer_start(&wake, on_wake, tw_wait(&wheel, now, 60000), 0);
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    uv_os_fd_t fd;
    (void)status, (void)events;
    on_wake(&wake);
    uv_fileno((uv_handle_t *)handle, &fd);
    judge_read(fd);
}

int main(void)
{
    uv_prepare_t prepare;
    uv_poll_t input;
    uv_loop_init(&loop);
    now = steady(uv_now(&loop));
    tw_init(&wheel, &(tw_config){.start = now});
    uv_timer_init(&loop, &wake);
    uv_prepare_init(&loop, &prepare);
    uv_prepare_start(&prepare, on_prepare);
    uv_poll_init(&loop, &input, judge_input());
    uv_poll_start(&input, UV_READABLE, on_readable);
    while (judge_turn())
        uv_run(&loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&wake, NULL);
    uv_close((uv_handle_t *)&prepare, NULL);
    uv_close((uv_handle_t *)&input, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return judge_end("libuv", true);
}
