/* libev.c - timingwheel.h in libev's loop, carried by one ev_timer.
 *
 * An ev_check before all handlers reads the program's own clock and advances
 * the wheel, once per turn. The loop's reading, ev_now, is wall-clock time,
 * which can be set.
 *
 *     cc libev.c -lev -o libev && ./libev      (the example is in judge.h)
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define MS 1
#include "judge.h"
#include <ev.h>

static ev_timer wake; /* only ends the sleep */

static void on_check(struct ev_loop *loop, ev_check *watcher, int events)
{
    (void)loop, (void)watcher, (void)events;
    now = read_clock();
    tw_advance_clock(&wheel, now);
}

static void on_wake(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop, (void)watcher, (void)events;
}

/* Before each sleep. */
static void on_prepare(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)watcher, (void)events;
    ev_now_update(loop); /* `wake` counts from ev_now, not from before `now` */
    ev_timer_stop(loop, &wake);
    ev_timer_set(&wake, (double)tw_wait(&wheel, now, 60000) / 1e3, 0);
    ev_timer_start(loop, &wake);
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop, (void)events;
    judge_read(watcher->fd);
}

int main(void)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    ev_prepare prepare;
    ev_check check;
    ev_io input;
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now});
    ev_timer_init(&wake, on_wake, 0, 0);
    ev_check_init(&check, on_check);
    ev_set_priority(&check, EV_MAXPRI);
    ev_check_start(loop, &check);
    ev_prepare_init(&prepare, on_prepare);
    ev_prepare_start(loop, &prepare);
    ev_io_init(&input, on_readable, judge_input(), EV_READ);
    ev_io_start(loop, &input);
    while (judge_turn())
        ev_run(loop, EVRUN_ONCE);
    ev_loop_destroy(loop);
    return judge_end("libev", true);
}
