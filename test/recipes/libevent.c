/* libevent.c - timingwheel.h in libevent's loop, carried by one event.
 *
 * The program has its own clock, since libevent's reading is wall-clock time,
 * which can be set. The first callback after the sleep reads the clock and
 * advances the wheel. With EVENT_BASE_FLAG_PRECISE_TIMER, libevent's timers use
 * the program's clock. A coarser clock could wake the loop before the deadline.
 *
 *     cc libevent.c -levent -o libevent && ./libevent
 *
 * The example is in judge.h.
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <event2/event.h>
#include <event2/event_struct.h>

#define MS 1000
static uint64_t now; /* the reading of this turn, in microseconds */
#include "judge.h"

static timingwheel tw;
static struct event wake, input;
static uint64_t wake_deadline;
static bool is_begun; /* this turn has read the clock */

static void begin_turn(void)
{
    if (is_begun)
        return;
    is_begun = true;
    now = read_clock();
    tw_advance_clock(&tw, now);
}

static void move_wake(void)
{
    uint64_t deadline = UINT64_MAX;
    tw_next_deadline(&tw, &deadline);
    if (deadline == wake_deadline && event_pending(&wake, EV_TIMEOUT, NULL))
        return;
    long wait = (long)tw_wait(&tw, now, 60000000);
    struct timeval timeout = {wait / 1000000, wait % 1000000};
    event_add(&wake, &timeout);
    wake_deadline = deadline;
}

static void on_event(evutil_socket_t fd, short events, void *context)
{
    (void)context;
    begin_turn();
    if (events & EV_READ && judge_read(&tw, fd))
        event_add(&input, NULL); /* not at the end of the input */
}

int main(void)
{
    struct event_config *config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    struct event_base *loop = event_base_new_with_config(config);
    event_config_free(config);
    now = read_clock();
    if (tw_init(&tw, &(tw_config){.start = now}) != TW_OK)
        return 1;
    event_assign(&wake, loop, -1, 0, on_event, NULL);
    event_assign(&input, loop, judge_input(), EV_READ, on_event, NULL);
    event_add(&input, NULL);
    while (judge_turn(&tw)) {
        move_wake();
        is_begun = false;
        event_base_loop(loop, EVLOOP_ONCE);
    }
    event_base_free(loop);
    tw_destroy(&tw);
    return judge_end("libevent", true);
}
