/* periodic.c - four ways to repeat a timer every 200 ms, and what each does
 * after the program hung from 500 to 1500 ms. keep_phase is the usual way.
 *
 *     cc -std=gnu99 -O2 -Wall -Wextra periodic.c -o periodic && ./periodic
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>
enum { MS = 1000000, PERIOD = 200 * MS, SLACK = 50 * MS }; /* nanoseconds */
static uint64_t begin, nominal; /* nominal: of with_slack */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* Returns the present time, from which the next period counts. */
static uint64_t report(const char *way, const tw_timer *timer)
{
    uint64_t now = clock_ns();
    printf("%4d ms: %-10s due at %d\n", (int)((now - begin) / MS), way,
           (int)((tw_deadline(timer) - begin) / MS));
    return now;
}

static void catch_up(timingwheel *tw, tw_timer *timer)
{
    report("catch up", timer); /* once for each period that was missed */
    tw_start(tw, timer, tw_after(tw_deadline(timer), PERIOD));
}

static void drift(timingwheel *tw, tw_timer *timer)
{
    uint64_t now = report("drift", timer); /* each time after the deadline */
    tw_start_after(tw, timer, now, PERIOD);
}

static void keep_phase(timingwheel *tw, tw_timer *timer)
{
    uint64_t now = report("keep phase", timer); /* at multiples of 200 ms */
    tw_start(tw, timer, tw_next_period(tw_deadline(timer), PERIOD, now, NULL));
}

/* Counts from a nominal time: counted from the deadline, slack would add up. */
static void with_slack(timingwheel *tw, tw_timer *timer)
{
    uint64_t now = report("with slack", timer);
    nominal = tw_next_period(nominal, PERIOD, now, NULL);
    tw_start_within(tw, timer, nominal, tw_after(nominal, SLACK));
}

static void hang(timingwheel *tw, tw_timer *timer)
{
    (void)tw, (void)timer;
    poll(NULL, 0, 1000);
}

int main(void)
{
    tw_callback *callbacks[] = {catch_up, drift, keep_phase, with_slack, hang};
    tw_timer timers[5];
    timingwheel tw;
    begin = nominal = clock_ns();
    tw_init(&tw, &(tw_config){.tick = MS, .start = begin});
    for (int i = 0; i < 5; i++) {
        tw_timer_init(&timers[i], callbacks[i]);
        tw_start_after(&tw, &timers[i], begin, i < 4 ? 0 : 500 * MS);
    }
    while (clock_ns() < begin + UINT64_C(2500) * MS) {
        uint64_t wait = tw_wait(&tw, clock_ns(), 1000 * MS);
        poll(NULL, 0, (int)((wait + MS - 1) / MS)); /* rounded up */
        tw_advance_clock(&tw, clock_ns());
    }
    tw_destroy(&tw);
    return 0;
}
