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
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <uv.h>

#define MS 1
static uint64_t now; /* the reading of this turn, in milliseconds */
#include "judge.h"

static timingwheel tw;
static uv_loop_t loop;
static uv_timer_t wake;

static void update_now(void)
{
    uint64_t reading = uv_now(&loop);
    now = reading > now ? reading : now;
}

static void on_wake(uv_timer_t *handle)
{
    (void)handle;
    update_now();
    tw_advance_clock(&tw, now);
}

/* Before each sleep: moves `wake` if the next deadline has changed. */
static void on_prepare(uv_prepare_t *handle)
{
    uint64_t deadline;
    (void)handle;
    update_now();
    if (!tw_next_deadline(&tw, &deadline))
        uv_timer_stop(&wake);
    else if (!uv_is_active((uv_handle_t *)&wake) ||
             now + uv_timer_get_due_in(&wake) != deadline)
        uv_timer_start(&wake, on_wake, tw_wait(&tw, now, UINT64_MAX), 0);
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    uv_os_fd_t fd;
    (void)status, (void)events;
    update_now();
    tw_advance_clock(&tw, now);
    uv_fileno((uv_handle_t *)handle, &fd);
    if (!judge_read(&tw, fd))
        uv_poll_stop(handle); /* the end of the input */
}

int main(void)
{
    uv_prepare_t prepare;
    uv_poll_t input;
    uv_loop_init(&loop);
    update_now();
    if (tw_init(&tw, &(tw_config){.start = now}) != TW_OK)
        return 1;
    uv_timer_init(&loop, &wake);
    uv_prepare_init(&loop, &prepare);
    uv_prepare_start(&prepare, on_prepare);
    uv_poll_init(&loop, &input, judge_input());
    uv_poll_start(&input, UV_READABLE, on_readable);
    while (judge_turn(&tw))
        uv_run(&loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&wake, NULL);
    uv_close((uv_handle_t *)&prepare, NULL);
    uv_close((uv_handle_t *)&input, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    tw_destroy(&tw);
    return judge_end("libuv", true);
}
