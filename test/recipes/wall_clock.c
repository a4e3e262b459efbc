/* wall_clock.c - alarms at a time of day, by a clock that people set.
 *
 * Each line is a time, from `date -d 17:30 +%s`. A clock set ahead rings what
 * is in between at once. A clock set back would stop a timingwheel until its
 * time comes again, so the timers move to a new one.
 *
 *     cc -std=gnu99 -Wall -Wextra wall_clock.c -o alarms && ./alarms
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
struct alarm {
    tw_timer timer;
    unsigned long time;
};

static timingwheel pair[2], *timers = pair; /* one is in use */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void on_alarm(timingwheel *tw, tw_timer *timer)
{
    struct alarm *a = TW_OWNER(timer, struct alarm, timer);
    (void)tw;
    dprintf(1, "%lu\n", a->time);
    free(a);
}

static bool read_alarm(void)
{
    struct alarm *a = malloc(sizeof(*a));
    if (a != NULL && scanf("%10lu%*c", &a->time) == 1) {
        tw_timer_init(&a->timer, on_alarm);
        if (tw_start(timers, &a->timer, a->time * (1000 * MS)) == TW_OK)
            return true;
    }
    free(a);
    return false;
}

/* Takes the timers out in order, so that they keep their order. */
static void set_back(uint64_t now)
{
    timingwheel *from = timers;
    tw_timer *timer;
    timers = from == pair ? pair + 1 : pair;
    tw_init(timers, &(tw_config){.tick = MS, .start = now});
    while ((timer = tw_poll(from, UINT64_MAX)) != NULL)
        if (tw_start(timers, timer, tw_deadline(timer)) != TW_OK)
            exit(1); /* no memory */
    tw_destroy(from);
}

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    setvbuf(stdin, NULL, _IONBF, 0); /* a buffer would hide lines from poll */
    tw_init(timers, &(tw_config){.tick = MS, .start = clock_ns()});
    while (input.fd == 0 || tw_count(timers) > 0) {
        /* At most 100 ms, to see soon that somebody has set the clock. */
        uint64_t wait = tw_wait(timers, clock_ns(), 100 * MS);
        int ready = poll(&input, 1, (int)((wait + MS - 1) / MS));
        uint64_t now = clock_ns();
        if (now < tw_now(timers))
            set_back(now);
        tw_advance_clock(timers, now);
        if (ready > 0 && !read_alarm())
            input.fd = -1;
    }
    tw_destroy(timers);
    return 0;
}
