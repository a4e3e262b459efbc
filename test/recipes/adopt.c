/* adopt.c - the timer file of a program that exists: init, start, stop, how long
 * to sleep, and three ways to call what is due.
 *     cc -std=gnu99 -Wall -Wextra adopt.c -o adopt && ./adopt
 * The unit is that of the program, here a microsecond. In its own header, define
 * TW_TYPES_ONLY around the include. SPDX-License-Identifier: MIT */
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
    struct host_timer **tail; /* of what is collected, or NULL */
};
struct host_timer {
    tw_timer timer;
    struct host_timer *next;
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

static int64_t host_wait(struct host_loop *l) /* -1: until an event */
{
    uint64_t wait = tw_wait(&l->timers, host_now(l), INT64_MAX);
    return wait == INT64_MAX ? -1 : (int64_t)wait;
}

static void host_arm(struct host_loop *l) /* 0 ns would disarm the timerfd */
{
    int64_t wait = host_wait(l), ns = wait % 1000000 * 1000 + 1;
    struct itimerspec at = {{0, 0}, {wait / 1000000, wait < 0 ? 0 : ns}};
    timerfd_settime(l->timerfd, 0, &at, NULL);
    l->armed = wait < 0 ? UINT64_MAX : (uint64_t)(l->now + wait);
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

static void on_due(timingwheel *tw, tw_timer *timer)
{
    struct host_loop *l = TW_OWNER(tw, struct host_loop, timers);
    struct host_timer *t = TW_OWNER(timer, struct host_timer, timer);
    if (l->tail == NULL)
        t->call(t);
    else
        *l->tail = t, l->tail = &t->next, t->next = NULL;
}

/* Keep one. DIRECTLY, a call may free timers. COLLECTED, a stop comes too late
 * for what is due. ONE_BY_ONE, a call may free, stop the loop, or run it. */
enum way { DIRECTLY, COLLECTED, ONE_BY_ONE };
static void host_expire(struct host_loop *l, enum way way)
{
    struct host_timer *t, *due = NULL;
    uint64_t now = host_now(l);
    tw_timer *timer;
    l->tail = way == COLLECTED ? &due : NULL;
    if (way != ONE_BY_ONE)
        tw_advance_clock(&l->timers, now);
    for (; (t = due) != NULL; t->call(t))
        due = t->next;
    while (way == ONE_BY_ONE && l->is_running &&
           (timer = tw_poll(&l->timers, now)) != NULL)
        on_due(&l->timers, timer);
    host_arm(l);
}

static struct host_loop loop = {.armed = UINT64_MAX};
static struct host_timer t[4];

static void on_time(struct host_timer *timer)
{
    printf("%d", (int)(timer - t));
    if (timer == &t[0])
        host_start(&loop, timer, 50000);
    if (timer == &t[1]) /* 2 is due, too */
        loop.is_running = false, host_stop(&loop, &t[2]);
}

int main(void)
{
    static const int delays[] = {50000, 260000, 260000, -5};
    tw_config config = {.start = host_now(&loop), .wheel_size = 16}; /* few */
    tw_init(&loop.timers, &config);
    loop.timerfd = timerfd_create(CLOCK_MONOTONIC, 0);
    for (int way = DIRECTLY; way <= ONE_BY_ONE; way++) {
        for (int i = 0; i < 4; i++) {
            t[i] = (struct host_timer){TW_TIMER_INIT(on_due), NULL, on_time};
            host_start(&loop, &t[i], delays[i]);
        }
        loop.is_running = true;
        for (uint64_t n; loop.is_running && read(loop.timerfd, &n, 8) == 8;)
            host_expire(&loop, (enum way)way);
        printf(", way %d, %d left\n", way, host_stop(&loop, &t[0]));
    }
    tw_destroy(&loop.timers);
}
