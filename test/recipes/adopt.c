/* adopt.c - the timer file of a program that exists, with its own unit: 1 us.
 *     cc -std=gnu99 -Wall -Wextra adopt.c -o adopt && ./adopt
 * In the header of the program, define TW_TYPES_ONLY around the include.
 * SPDX-License-Identifier: MIT */
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>
#include <sys/timerfd.h> /* and with it time.h */
#include <unistd.h>
struct host_loop {
    timingwheel timers;
    int64_t now, stepped; /* what a settable clock was set by */
    uint64_t armed;       /* for this time the timerfd is set */
    int timerfd;
    bool is_running;
};
struct host_timer {
    tw_timer timer;
    struct host_timer *next;           /* of the collected ones */
    void (*call)(struct host_timer *); /* may start and stop any timer */
};

/* A clock that was set back has not moved, and all timers go on. A program that
 * hears of a step adds it to `stepped`, also one ahead. */
static uint64_t host_now(struct host_loop *l)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
    l->stepped = us - l->stepped < l->now ? us - l->now : l->stepped;
    return (uint64_t)(l->now = us - l->stepped);
}

static int64_t host_wait(struct host_loop *l) /* below 0: until an event */
{
    return (int64_t)tw_wait(&l->timers, host_now(l), UINT64_MAX);
}

static void host_arm(struct host_loop *l) /* 0 ns would disarm the timerfd */
{
    int64_t wait = host_wait(l), ns = wait % 1000000 * 1000 + 1;
    struct itimerspec at = {{0, 0}, {wait / 1000000, wait < 0 ? 0 : ns}};
    timerfd_settime(l->timerfd, 0, &at, NULL);
    l->armed = wait < 0 ? UINT64_MAX : (uint64_t)l->now + (uint64_t)wait;
}

/* A negative delay is 0. Others are 1 longer, because the clock is cut off. */
static void host_start(struct host_loop *l, struct host_timer *t, int64_t delay)
{
    uint64_t longer = delay > 0 ? (uint64_t)delay + 1 : 0;
    tw_postpone_after(&l->timers, &t->timer, host_now(l), longer);
    if (tw_deadline(&t->timer) < l->armed)
        host_arm(l);
}

static bool host_stop(struct host_loop *l, struct host_timer *t)
{
    return tw_cancel(&l->timers, &t->timer);
}

static void host_init(struct host_loop *l)
{
    *l = (struct host_loop){.is_running = true, .armed = UINT64_MAX};
    l->timerfd = timerfd_create(CLOCK_MONOTONIC, 0);
    tw_init(&l->timers, &(tw_config){.start = host_now(l), .wheel_size = 16});
}

/* Keep one way. One by one, a call may free any timer, stop the loop, or run it
 * again, from host_arm on. With all collected first, a stop comes too late for
 * what is due. (Or let tw_advance_clock call, which may then free, not run.) */
static void host_expire(struct host_loop *l, bool are_collected)
{
    struct host_timer *t, *due = NULL, **end = &due;
    uint64_t now = host_now(l);
    tw_timer *timer;
    while (l->is_running && (timer = tw_poll(&l->timers, now)) != NULL) {
        t = TW_OWNER(timer, struct host_timer, timer);
        if (are_collected)
            *end = t, end = &t->next, t->next = NULL;
        else
            t->call(t);
    }
    for (; (t = due) != NULL; t->call(t))
        due = t->next;
    host_arm(l);
}

static struct host_loop loop;
static struct host_timer t[4];
static void on_time(struct host_timer *timer)
{
    printf("%d", (int)(timer - t));
    if (timer == &t[1]) /* 2 is due, too */
        loop.is_running = false, host_stop(&loop, &t[2]);
}

int main(void)
{
    static const int delays[] = {50000, 260000, 260000, -5};
    for (int way = 0; way < 2; way++) {
        host_init(&loop);
        for (int i = 0; i < 4; i++)
            t[i].call = on_time, host_start(&loop, &t[i], delays[i]);
        for (uint64_t n; loop.is_running && read(loop.timerfd, &n, 8) == 8;)
            host_expire(&loop, way > 0);
        printf(", way %d, %d left\n", way, (int)tw_count(&loop.timers));
        tw_destroy(&loop.timers), close(loop.timerfd);
    }
}
