/* libev.c - many timers on one ev_timer, in the loop of libev.
 * Says when you have not typed for 250 ms. An ev_prepare sets the timer of
 * libev before each sleep. A callback may call ev_run. The clock is our own:
 * ev_now is wall-clock time, read once a turn, and would make delays too short.
 *     cc -std=gnu99 -Wall -Wextra libev.c -lev -o libev && ./libev
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <ev.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
static timingwheel timers;
static ev_timer wake;
static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* Outside of any call, so that a callback may call ev_run. At most 100 timers:
 * one that starts again for the time 0 cannot hold the loop. */
static void on_wake(struct ev_loop *loop, ev_timer *watcher, int events)
{
    static uint64_t now; /* a loop in a callback moves it on */
    tw_timer *timer;
    (void)loop, (void)watcher, (void)events;
    now = clock_ns();
    for (int i = 0; i < 100 && (timer = tw_poll(&timers, now)) != NULL; i++)
        timer->callback(&timers, timer);
}

static void arm(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
    (void)watcher, (void)events;
    ev_now_update(loop); /* the wait counts from ev_now */
    wake.repeat = tw_count(&timers) == 0 ? 0 : (double)(wait + 1) / 1e9;
    ev_timer_again(loop, &wake); /* 0 stops it: the loop may end */
}

static void init(void)
{
    static ev_prepare prepare;
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    ev_timer_init(&wake, on_wake, 0, 0);
    ev_prepare_init(&prepare, arm); /* before each sleep */
    ev_prepare_start(EV_DEFAULT, &prepare);
    ev_unref(EV_DEFAULT); /* no loop lives for `prepare` alone */
}

/* Until `stop`, or until neither timers nor other watchers are left. */
static void run(void)
{
    do
        arm(EV_DEFAULT, NULL, 0); /* the last handler may have started one */
    while (!ev_run(EV_DEFAULT, 0) && tw_count(&timers) > 0);
}

void stop(void)
{
    ev_break(EV_DEFAULT, EVBREAK_ALL);
}

/* The example. Input that has come beats the timeout, even after a stall. */
static tw_timer silence;
static ev_io input;

/* Returns true if there was input: the silence begins anew. */
static bool read_input(void)
{
    char bytes[4096];
    if (poll(&(struct pollfd){0, POLLIN, 0}, 1, 0) <= 0)
        return false;
    if (read(0, bytes, sizeof(bytes)) > 0)
        return tw_postpone_after(&timers, &silence, clock_ns(), 250 * MS), true;
    ev_io_stop(EV_DEFAULT, &input); /* the end of the input */
    return false;
}

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    static unsigned count;
    (void)tw, (void)timer;
    if (!read_input()) /* input that came while the loop stood still */
        dprintf(1, "silence %u\n", ++count);
}

static void on_input(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop, (void)watcher, (void)events, read_input();
}

static void watch_input(void)
{
    tw_timer_init(&silence, on_silence);
    ev_io_init(&input, on_input, 0, EV_READ);
    ev_io_start(EV_DEFAULT, &input);
}

int main(void)
{
    init();
    watch_input();
    run();
    tw_destroy(&timers);
}
