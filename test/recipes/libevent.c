/* libevent.c - timingwheel.h in libevent's loop, carried by one event.
 *
 * The program has its own clock. The first callback after the sleep reads the
 * clock once per turn: libevent's reading is wall-clock time, which can be set.
 * With EVENT_BASE_FLAG_PRECISE_TIMER, libevent's timers use the program's
 * clock. A coarser clock could wake the loop before the deadline.
 * The example: a child writes a byte every 20 ms. Each byte starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`; every fifth
 * cancels it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static timingwheel wheel;
static struct event wake, input;
static uint64_t now, before; /* of this turn, 0: not read; of the last turn */
static uint64_t wake_deadline;
static int bytes, pending, fired, early, late, idle;

static uint64_t turn_time(void) /* in microseconds */
{
    struct timespec t;
    if (now == 0 && clock_gettime(CLOCK_MONOTONIC, &t) == 0)
        now = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
    return now = now > before ? now : before;
}

static void move_wake(void)
{
    uint64_t deadline = UINT64_MAX;
    tw_next_deadline(&wheel, &deadline);
    if (deadline == wake_deadline && event_pending(&wake, EV_TIMEOUT, NULL))
        return;
    long wait = (long)tw_wait(&wheel, turn_time(), 60000000);
    struct timeval timeout = {wait / 1000000, wait % 1000000};
    event_add(&wake, &timeout);
    wake_deadline = deadline;
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += now < tw_deadline(timer);
    late += now > tw_deadline(timer) + 9000;
}

static void on_event(evutil_socket_t fd, short events, void *context)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    char byte;
    (void)context;
    if (events & EV_TIMEOUT)
        return;                  /* `wake` has ended the sleep */
    if (read(fd, &byte, 1) == 1) /* 0: end of file */
        event_add(&input, NULL);
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(turn_time(), 2000));
    tw_postpone(&wheel, &silence, tw_after(turn_time(), 150000));
    if (++bytes % 5 == 0)
        pending -= tw_cancel(&wheel, &silence);
}

int main(void)
{
    FILE *child = popen("for i in $(seq 19); do sleep .02; echo; done", "r");
    struct event_config *config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    struct event_base *loop = event_base_new_with_config(config);
    event_config_free(config);
    if (child == NULL ||
        tw_init(&wheel, &(tw_config){.start = turn_time()}) != TW_OK)
        return 1;
    event_assign(&wake, loop, -1, 0, on_event, NULL);
    event_assign(&input, loop, fileno(child), EV_READ, on_event, NULL);
    event_add(&input, NULL);
    while (bytes < 20 || tw_count(&wheel) > 0) {
        int done = bytes + fired;
        move_wake();
        before = now;
        now = 0;
        event_base_loop(loop, EVLOOP_ONCE);
        tw_advance_clock(&wheel, turn_time());
        idle += bytes + fired == done;
    }
    event_base_free(loop);
    tw_destroy(&wheel);
    printf("libevent: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, pending, late, idle);
    return (pclose(child) || early || pending || late > 10) + 2 * (idle > 10);
}
