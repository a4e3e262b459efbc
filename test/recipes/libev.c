/* libev.c - many timers on one ev_timer, in the loop of libev.
 *
 * Says when you have not typed for 250 ms. An ev_prepare sets the timer of
 * libev before each sleep. The clock is our own: ev_now is wall-clock time,
 * read once a turn, and would make delays too short.
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
static struct session {
    tw_timer silence;
    unsigned count;
} session;
static timingwheel timers;
static ev_timer wake;
static bool is_open = true;

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* Returns true if there was input: the silence begins anew. */
static bool read_input(void)
{
    char bytes[4096];
    if (poll(&(struct pollfd){0, POLLIN, 0}, 1, 0) <= 0)
        return false;
    is_open = read(0, bytes, sizeof(bytes)) > 0;
    if (is_open)
        tw_postpone_after(&timers, &session.silence, clock_ns(), 250 * MS);
    return is_open;
}

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    struct session *s = TW_OWNER(timer, struct session, silence);
    (void)tw;
    if (read_input()) /* input that came while the loop stood still */
        return;
    dprintf(1, "silence %u\n", ++s->count);
}

static void on_wake(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop, (void)watcher, (void)events;
    tw_advance_clock(&timers, clock_ns());
}

static void on_prepare(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
    (void)watcher, (void)events;
    ev_now_update(loop); /* the wait counts from ev_now */
    wake.repeat = tw_count(&timers) == 0 ? 0 : (double)(wait + 1) / 1e9;
    ev_timer_again(loop, &wake); /* 0 stops it: the loop may end */
}

static void on_input(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    if (!read_input() && !is_open)
        ev_io_stop(loop, watcher);
}

int main(void)
{
    ev_prepare prepare;
    ev_io input;
    tw_timer_init(&session.silence, on_silence);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    ev_timer_init(&wake, on_wake, 0, 0);
    ev_prepare_init(&prepare, on_prepare);
    ev_prepare_start(EV_DEFAULT, &prepare);
    ev_unref(EV_DEFAULT); /* no loop lives for `prepare` alone */
    ev_io_init(&input, on_input, 0, EV_READ);
    ev_io_start(EV_DEFAULT, &input);
    while (ev_run(EV_DEFAULT, 0), tw_count(&timers) > 0)
        on_prepare(EV_DEFAULT, &prepare, 0); /* a timer started last */
    tw_destroy(&timers);
}
