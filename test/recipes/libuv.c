/* libuv.c - timingwheel.h in libuv's loop, carried by one uv_timer_t.
 *
 * The clock is the loop's own, uv_now: milliseconds, monotonic, read once a
 * turn. Long work in a callback leaves it behind; then call uv_update_time.
 *
 * The example: a child writes a byte every 20 ms. Each byte starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`; every fifth
 * cancels it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

static timingwheel wheel;
static uv_loop_t loop;
static uv_timer_t wake;
static uv_prepare_t prepare;
static uv_poll_t input;
static int bytes, pending, fired, early, late, idle;

static uint64_t read_clock(void)
{
    static uint64_t now;
    uint64_t reading = uv_now(&loop);
    return now = reading > now ? reading : now;
}

static void on_wake(uv_timer_t *handle)
{
    (void)handle;
    idle += tw_advance_clock(&wheel, read_clock()) == 0;
}

/* Before each sleep: moves `wake` if the next deadline has changed. */
static void on_prepare(uv_prepare_t *handle)
{
    uint64_t deadline, now = read_clock();
    (void)handle;
    if (!tw_next_deadline(&wheel, &deadline))
        uv_timer_stop(&wake);
    else if (!uv_is_active((uv_handle_t *)&wake) ||
             now + uv_timer_get_due_in(&wake) != deadline)
        uv_timer_start(&wake, on_wake, tw_wait(&wheel, now, UINT64_MAX), 0);
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += read_clock() < tw_deadline(timer);
    late += read_clock() > tw_deadline(timer) + 9;
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    uint64_t now = read_clock();
    char byte;
    uv_os_fd_t fd;
    (void)status, (void)events;
    uv_fileno((uv_handle_t *)handle, &fd);
    if (read(fd, &byte, 1) != 1)
        uv_poll_stop(handle); /* the end of the file */
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(now, 2));
    tw_postpone(&wheel, &silence, tw_after(now, 150));
    if (++bytes % 5 == 0)
        pending -= tw_cancel(&wheel, &silence);
}

int main(void)
{
    FILE *child = popen("for i in $(seq 19); do sleep .02; echo; done", "r");
    if (child == NULL || uv_loop_init(&loop) != 0 ||
        tw_init(&wheel, &(tw_config){.start = read_clock()}) != TW_OK)
        return 1;
    uv_timer_init(&loop, &wake);
    uv_prepare_init(&loop, &prepare);
    uv_prepare_start(&prepare, on_prepare);
    uv_poll_init(&loop, &input, fileno(child));
    uv_poll_start(&input, UV_READABLE, on_readable);
    while (bytes < 20 || tw_count(&wheel) > 0)
        uv_run(&loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&wake, NULL);
    uv_close((uv_handle_t *)&prepare, NULL);
    uv_close((uv_handle_t *)&input, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    tw_destroy(&wheel);
    printf("libuv: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, pending, late, idle);
    return (pclose(child) || early || pending || late > 10) + 2 * (idle > 10);
}
