/* exact.c - libuv, as exact.h wants it. SPDX-License-Identifier: MIT */
#define HOST_TICK 1000 /* the loop reads the clock in whole milliseconds */

#include "../exact.h"

#include <uv.h>

static uv_loop_t loop;
static uv_timer_t timers[TIMERS];

static void on_due(uv_timer_t *timer)
{
    host_fired((int)(timer - timers));
}

static void host_begin(void)
{
    uv_loop_init(&loop);
    for (int i = 0; i < TIMERS; i++)
        uv_timer_init(&loop, &timers[i]);
}

static void host_start(int timer, uint64_t delay)
{
    uv_timer_start(&timers[timer], on_due, delay / 1000, 0);
}

static void host_cancel(int timer)
{
    uv_timer_stop(&timers[timer]);
}

static void host_run(void)
{
    uv_run(&loop, UV_RUN_NOWAIT);
}

static int host_end(void)
{
    for (int i = 0; i < TIMERS; i++)
        uv_close((uv_handle_t *)&timers[i], NULL);
    uv_run(&loop, UV_RUN_NOWAIT);
    uv_loop_close(&loop);
    return 0;
}
