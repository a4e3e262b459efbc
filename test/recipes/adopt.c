/* adopt.c - timers for a program that exists, and keeps its handlers, its event
 * numbers, and a clock of 32 bits in milliseconds, which here soon wraps.
 *     cc -std=gnu99 -Wall -Wextra adopt.c -o adopt && ./adopt
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>
struct event {
    int number;
    int (*handle)(struct event *); /* returns the ms to the next call, or -1 */
    tw_timer timer;                /* new, in place of the links of a tree */
    struct event *next;            /* of those that are due */
};
static timingwheel timers;
static uint32_t begin;

static uint32_t counter_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)t.tv_sec * 1000 + (uint32_t)t.tv_nsec / 1000000 - begin;
}

/* Widens the counter. To be called at least once in 50 days. */
static uint64_t clock_ms(void)
{
    static uint64_t now;
    return now += (uint32_t)(counter_ms() - (uint32_t)now);
}

/* 0 is the next turn: by tw_start_after it would be the next tick. Otherwise
 * 1 ms more, because the reading was cut off. */
static void start(struct event *e, int ms)
{
    uint64_t delay = (uint64_t)ms + 1;
    if (ms >= 0)
        tw_start(&timers, &e->timer, ms > 0 ? tw_after(clock_ms(), delay) : 0);
}

/* tw_poll returns overdue timers, too. So handlers run after its loop, which an
 * event that starts itself for the next turn would keep going for ever. */
static void run_events(void)
{
    struct event *due = NULL, **last = &due;
    uint64_t now = clock_ms();
    for (tw_timer *timer; (timer = tw_poll(&timers, now)) != NULL;) {
        *last = TW_OWNER(timer, struct event, timer);
        last = &(*last)->next;
    }
    for (*last = NULL; due != NULL; due = due->next)
        start(due, due->handle(due));
}

static bool has_number(const tw_timer *timer, void *number)
{
    return TW_OWNER(timer, struct event, timer)->number == *(int *)number;
}

static bool must_end(const tw_timer *timer, void *unused)
{
    (void)unused; /* event 0 does not keep the program running */
    return TW_OWNER(timer, struct event, timer)->number != 0;
}

static int on_time(struct event *e)
{
    printf("event %d at %u\n", e->number, (unsigned)counter_ms());
    return e->number == 0 ? 40 : -1;
}

int main(void)
{
    struct event events[] = {{.number = 0}, {.number = 150}, {.number = 500}};
    begin = counter_ms() + 100;
    tw_init(&timers, &(tw_config){.start = clock_ms()});
    if (tw_reserve(&timers, UINT64_MAX) != TW_OK)
        return 1; /* later starts cannot fail */
    for (int i = 0; i < 3; i++) {
        events[i].handle = on_time;
        start(&events[i], events[i].number);
    }
    tw_cancel(&timers, tw_find(&timers, has_number, &events[2].number));
    while (tw_find(&timers, must_end, NULL) != NULL) {
        poll(NULL, 0, (int)tw_wait(&timers, clock_ms(), 1000));
        run_events();
    }
    tw_destroy(&timers);
}
