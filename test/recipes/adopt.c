/* adopt.c - timers for a program that exists, and keeps its handlers, its event
 * numbers, and a clock of 32 bits in milliseconds, which here soon wraps.
 *     cc -std=gnu99 -Wall -Wextra adopt.c -o adopt && ./adopt
 * It deletes events by number, with a table. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
static timingwheel timers;
static struct event {
    int number;
    int (*handle)(struct event *); /* returns the ms to the next call, or -1 */
    tw_timer timer;                /* new, in place of the links of a tree */
} table[3]; /* from number to event (a hash table, if numbers only grow) */
static uint32_t begin, turn = 1; /* of the loop */

static uint32_t counter_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)t.tv_sec * 1000 + (uint32_t)t.tv_nsec / 1000000 - begin;
}

/* Widens the counter, if called once in 24 days. If it was set back, no time
 * has passed: delays go on. (Dates: see wall_clock.c.) Each result, in ns, is
 * above the last: polls of this turn do not reach timers of the next one. */
static uint64_t later(void)
{
    static uint64_t ms, now;
    static uint32_t last;
    uint32_t count = counter_ms(), passed = count - last;
    last = count;
    ms += passed < UINT32_MAX / 2 ? passed : 0;
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
 * does, take tw_advance_clock, whose callbacks may also cancel and free.) */
static void run_events(void)
{
    static uint64_t now; /* a loop in a handler moves it on */
    now = later();
    for (tw_timer *timer; (timer = tw_poll(&timers, now)) != NULL;) {
        struct event *e = TW_OWNER(timer, struct event, timer);
        start(e, e->handle(e));
    }
}

static int on_time(struct event *e)
{
    printf("event %d at %u, turn %u\n", e->number, counter_ms(), turn);
    if (e->number == 1) /* it deletes number 2, which is due as well */
        tw_cancel(&timers, &table[2].timer);
    return e->number != 0 ? -1 : turn < 3 ? 0 : 40;
}

int main(void)
{
    begin = counter_ms() + 100;
    tw_init(&timers, &(tw_config){.start = later()});
    for (int i = 0; i < 3; i++) {
        table[i] = (struct event){.number = i, .handle = on_time};
        start(&table[i], i > 0 ? 350 : 0);
    }
    for (; tw_count(&timers) > 1; turn++) { /* event 0 repeats for ever */
        poll(NULL, 0, (int)(tw_wait(&timers, later(), 1000 * MS) / MS) + 1);
        run_events();
    }
    tw_destroy(&timers);
}
