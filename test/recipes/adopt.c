/* adopt.c - timers for a program that exists, and keeps its handlers, its event
 * numbers, and a clock of 32 bits in milliseconds, which here soon wraps.
 *     cc -std=gnu99 -Wall -Wextra adopt.c -o adopt && ./adopt
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
struct event {
    int number;
    int (*handle)(struct event *); /* returns the ms to the next call, or -1 */
    tw_timer timer;                /* new, in place of the links of a tree */
};
static timingwheel timers;
static uint32_t begin;
static unsigned turn = 1; /* of the loop */

static uint32_t counter_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)t.tv_sec * 1000 + (uint32_t)t.tv_nsec / 1000000 - begin;
}

/* Widens the counter, if called once in 50 days. Each result, in ns, exceeds
 * the last one, by 1 if the counter stands: the polls of this turn do not reach
 * the tick, of 1 ns, of a timer for the next turn. */
static uint64_t later(void)
{
    static uint64_t ms, now;
    ms += (uint32_t)(counter_ms() - (uint32_t)ms);
    return now = ms * MS > now ? ms * MS : now + 1;
}

/* 0 is the next turn. Otherwise 1 ms more, because the reading was cut off. */
static void start(struct event *e, int ms)
{
    uint64_t now = later(), delay = ((uint64_t)ms + 1) * MS;
    if (ms >= 0)
        tw_start(&timers, &e->timer, ms > 0 ? now - now % MS + delay : now);
}

/* Handlers run between two polls, so they may run the whole loop. (If none
 * does, take tw_advance_clock, whose callbacks may also cancel and free.) No
 * event starts at deadline 0: tw_poll would return it again in this turn. */
static void run_events(void)
{
    static uint64_t now; /* a loop in a handler moves it on */
    now = later();
    for (tw_timer *timer; (timer = tw_poll(&timers, now)) != NULL;) {
        struct event *e = TW_OWNER(timer, struct event, timer);
        start(e, e->handle(e));
    }
}

/* Or compare handler and argument. To cancel all of a handler, call tw_foreach,
 * whose visitor may cancel and free. Clear pointers: tw_cancel follows them. */
static bool has_number(const tw_timer *timer, void *number)
{
    return TW_OWNER(timer, struct event, timer)->number == *(int *)number;
}

static int on_time(struct event *e)
{
    printf("event %d at %u, turn %u\n", e->number, counter_ms(), turn);
    if (e->number == 150) /* it cancels another one that is due */
        tw_cancel(&timers, tw_find(&timers, has_number, &(int){151}));
    return e->number != 0 ? -1 : turn < 3 ? 0 : 40;
}

int main(void)
{
    struct event events[] = {{.number = 0}, {.number = 150}, {.number = 151}};
    begin = counter_ms() + 100;
    tw_init(&timers, &(tw_config){.start = later()});
    if (tw_reserve(&timers, UINT64_MAX) != TW_OK)
        return 1; /* later starts cannot fail */
    for (int i = 0; i < 3; i++) {
        events[i].handle = on_time;
        start(&events[i], i > 0 ? 150 : 0);
    }
    for (; tw_find(&timers, has_number, &(int){150}) != NULL; turn++) {
        uint64_t wait = tw_wait(&timers, later(), 1000 * MS);
        poll(NULL, 0, (int)((wait + MS - 1) / MS));
        run_events();
    }
    tw_destroy(&timers);
}
