/* libev.c - timingwheel.h in libev's loop, carried by one ev_timer.
 *
 * An ev_check before all handlers reads the program's own clock, once per turn.
 * The loop's reading, ev_now, is wall-clock time, which can be set.
 * The example: a child writes a byte every 20 ms. Each byte starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`; every fifth
 * cancels it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <ev.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static timingwheel wheel;
static uint64_t now, wake_deadline; /* milliseconds */
static ev_timer wake;
static ev_io input;
static int bytes, pending, fired, early, late, idle;

static void on_check(struct ev_loop *loop, ev_check *watcher, int events)
{
    struct timespec t;
    (void)loop, (void)watcher, (void)events;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t fresh = (uint64_t)t.tv_sec * 1000 + (unsigned)t.tv_nsec / 1000000;
    now = fresh > now ? fresh : now;
}

static void on_wake(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop, (void)watcher, (void)events;
    idle += tw_advance_clock(&wheel, now) == 0;
}

/* Before each sleep: moves `wake` if the next deadline has changed. */
static void on_prepare(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    uint64_t deadline = UINT64_MAX;
    (void)watcher, (void)events;
    tw_next_deadline(&wheel, &deadline);
    if (deadline == wake_deadline && deadline > now && ev_is_active(&wake))
        return;
    wake_deadline = deadline;
    ev_now_update(loop); /* `wake` counts from ev_now, not from before `now` */
    ev_timer_stop(loop, &wake);
    ev_timer_init(&wake, on_wake, (double)tw_wait(&wheel, now, 60000) / 1e3, 0);
    ev_timer_start(loop, &wake);
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += now < tw_deadline(timer);
    late += now > tw_deadline(timer) + 9;
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    char byte;
    (void)events;
    if (read(watcher->fd, &byte, 1) != 1)
        ev_io_stop(loop, watcher); /* the end of the file */
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
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    ev_prepare prepare;
    ev_check check;
    on_check(loop, NULL, 0);
    if (child == NULL || tw_init(&wheel, &(tw_config){.start = now}) != TW_OK)
        return 1;
    ev_check_init(&check, on_check);
    ev_set_priority(&check, EV_MAXPRI);
    ev_check_start(loop, &check);
    ev_prepare_init(&prepare, on_prepare);
    ev_prepare_start(loop, &prepare);
    ev_io_init(&input, on_readable, fileno(child), EV_READ);
    ev_io_start(loop, &input);
    while (bytes < 20 || tw_count(&wheel) > 0)
        ev_run(loop, EVRUN_ONCE);
    ev_loop_destroy(loop);
    tw_destroy(&wheel);
    printf("libev: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, pending, late, idle);
    return (pclose(child) || early || pending || late > 10) + 2 * (idle > 10);
}
