/* libevent.c - timingwheel.h in libevent's loop, carried by one event.
 *
 * The program has its own clock, since libevent's reading is wall-clock time,
 * which can be set. Each callback reads the clock and advances the wheel first.
 * With EVENT_BASE_FLAG_PRECISE_TIMER, libevent's timers use the program's
 * clock. A coarser clock could wake the loop before the deadline.
 *
 *     cc libevent.c -levent -o libevent && ./libevent
 *
 * The example is in judge.h.
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define MS 1000
#include "judge.h"
#include <event2/event.h>
#include <event2/event_struct.h>

static void on_event(evutil_socket_t fd, short events, void *context)
{
    (void)context;
    now = read_clock();
    tw_advance_clock(&wheel, now);
    if (events & EV_READ)
        judge_read(fd);
}

int main(void)
{
    struct event wake, input;
    struct event_config *config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    struct event_base *loop = event_base_new_with_config(config);
    event_config_free(config);
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now});
    event_assign(&wake, loop, -1, 0, on_event, NULL);
    event_assign(&input, loop, judge_input(), EV_READ | EV_PERSIST, on_event,
                 NULL);
    event_add(&input, NULL);
    while (judge_turn()) {
        long wait = (long)tw_wait(&wheel, now, 60000000);
        event_add(&wake, &(struct timeval){wait / 1000000, wait % 1000000});
        event_base_loop(loop, EVLOOP_ONCE);
    }
    event_base_free(loop);
    return judge_end("libevent", true);
}
