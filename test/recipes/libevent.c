/* libevent.c - many timers on one event, in the loop of libevent.
 * Says when you have not typed for 250 ms. PRECISE_TIMER gives libevent the
 * clock of this program: its usual clock is coarser, and may wake too early.
 * event_base_gettimeofday_cached is read once a turn: delays would be short.
 * A callback must not run the loop, which libevent refuses.
 *     cc -std=c99 -Wall -Wextra libevent.c -levent -o libevent && ./libevent
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <event2/event.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
static timingwheel timers;
static struct event_base *loop;
static struct event *wake;

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* Call it at the end of each handler that starts or cancels timers. */
static void arm(void)
{
    long us = (long)(tw_wait(&timers, clock_ns(), 1000 * MS) + 999) / 1000;
    if (tw_count(&timers) > 0)
        event_add(wake, &(struct timeval){us / 1000000, us % 1000000});
    else
        event_del(wake); /* the loop may end */
}

static void on_wake(evutil_socket_t fd, short events, void *context)
{
    (void)fd, (void)events, (void)context;
    tw_advance_clock(&timers, clock_ns());
    arm();
}

static void init(void)
{
    struct event_config *config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    loop = event_base_new_with_config(config);
    event_config_free(config);
    wake = event_new(loop, -1, 0, on_wake, NULL);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
}

/* Until `stop`, or until neither timers nor other events are left. */
static void run(void)
{
    arm();
    event_base_dispatch(loop);
}

void stop(void)
{
    event_base_loopbreak(loop);
}

/* The example. Input that has come beats the timeout. A bufferevent cannot be
 * read here, so the session gets one more turn. For more than 32 clients, read
 * an event's fd instead: libevent handles 32 ready events in a turn at first,
 * later more. */
static tw_timer silence;
static struct event *input;
static void on_silence(timingwheel *tw, tw_timer *timer)
{
    static unsigned count;
    if (tw_deadline(timer) > 0)
        tw_start(tw, timer, 0); /* fires in the next turn, the second time */
    else
        dprintf(1, "silence %u\n", ++count);
}

static void on_input(evutil_socket_t fd, short events, void *context)
{
    char bytes[4096];
    (void)events, (void)context;
    if (read(fd, bytes, sizeof(bytes)) > 0)
        tw_postpone_after(&timers, &silence, clock_ns(), 250 * MS);
    else
        event_del(input);
    arm();
}

static void watch_input(void)
{
    input = event_new(loop, 0, EV_READ | EV_PERSIST, on_input, NULL);
    event_add(input, NULL);
}

int main(void)
{
    init();
    watch_input();
    tw_timer_init(&silence, on_silence);
    run();
    tw_destroy(&timers);
    event_free(input);
    event_free(wake);
    event_base_free(loop);
}
