/* exact.c - libevent, as exact.h wants it. SPDX-License-Identifier: MIT */
#define HOST_TICK 1

#include "../exact.h"

#include <event2/event.h>
#include <event2/event_struct.h>

static struct event_base *base;
static struct event events[TIMERS];

static void on_due(evutil_socket_t fd, short what, void *event)
{
    (void)fd;
    (void)what;
    host_fired((int)((struct event *)event - events));
}

static void host_begin(void)
{
    base = event_base_new();
    for (int i = 0; i < TIMERS; i++)
        event_assign(&events[i], base, -1, 0, on_due, &events[i]);
}

static void host_start(int timer, uint64_t delay)
{
    struct timeval after = {(time_t)(delay / 1000000),
                            (suseconds_t)(delay % 1000000)};
    event_add(&events[timer], &after);
}

static void host_cancel(int timer)
{
    event_del(&events[timer]);
}

static void host_run(void)
{
    event_base_loop(base, EVLOOP_NONBLOCK);
}

static int host_end(void)
{
    for (int i = 0; i < TIMERS; i++)
        event_del(&events[i]);
    event_base_free(base);
    return 0;
}
