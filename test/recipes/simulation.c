/* simulation.c - timingwheel.h as the calendar of a simulation, without clock.
 *
 * The next event determines the time: the clock jumps from one deadline to the
 * next, and costs nothing in between.
 *
 * The example: a queue M/M/1. A million customers come, and are served one
 * after the other, at random with the mean times below. In theory they wait for
 * load / (1 - load) mean service times: 1 for a load of a half. The waits of
 * customers depend on each other, and their mean has a standard error of 0.54
 * %. Exit code 1: the mean was 2 % off, or an event was early or lost.
 *
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <math.h>
#include <stdio.h>

#define CUSTOMERS 1000000
#define SERVICE 1e6  /* mean time of a service, in units of the clock */
#define INTERVAL 2e6 /* mean time from one arrival to the next */

static void on_arrival(timingwheel *tw, tw_timer *timer);
static void on_departure(timingwheel *tw, tw_timer *timer);

static tw_timer arrival = TW_TIMER_INIT(on_arrival);
static tw_timer departure = TW_TIMER_INIT(on_departure);
static uint64_t now; /* the deadline that the clock has jumped to */
static uint64_t last_change;
static long arrived, departed, wrong;
static double waited; /* by all customers together, up to the last change */

/* Exponentially distributed; the generator is splitmix64. */
static uint64_t random_time(double mean)
{
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (uint64_t)(-mean * log(((double)(z >> 11) + 0.5) / 0x1p53));
}

/* All customers except the served customer have waited until now. */
static void note_change(const tw_timer *timer)
{
    long here = arrived - departed;
    waited += here > 1 ? (double)(now - last_change) * (double)(here - 1) : 0;
    last_change = now;
    wrong += tw_deadline(timer) != now;
}

static void on_arrival(timingwheel *tw, tw_timer *timer)
{
    note_change(timer);
    if (++arrived < CUSTOMERS)
        tw_start(tw, &arrival, tw_after(now, random_time(INTERVAL)));
    if (arrived - departed == 1)
        tw_start(tw, &departure, tw_after(now, random_time(SERVICE)));
}

static void on_departure(timingwheel *tw, tw_timer *timer)
{
    note_change(timer);
    departed++;
    if (arrived > departed)
        tw_start(tw, &departure, tw_after(now, random_time(SERVICE)));
}

int main(void)
{
    timingwheel tw;
    if (tw_init(&tw, NULL) != TW_OK ||
        tw_start(&tw, &arrival, random_time(INTERVAL)) != TW_OK)
        return 1;
    size_t fired = 0, idle = 0;
    while (tw_next_deadline(&tw, &now)) {
        size_t count = tw_advance_clock(&tw, now);
        fired += count;
        idle += count == 0;
    }
    tw_destroy(&tw);
    double mean = waited / CUSTOMERS / SERVICE;
    double theory = 1 / (INTERVAL / SERVICE - 1);
    long lost = 2L * CUSTOMERS - (long)fired;
    printf("simulation: %zu fired, %ld early, %ld lost, %zu idle turns; "
           "waited %.4f, in theory %.4f\n",
           fired, wrong, lost, idle, mean, theory);
    return wrong || lost || idle || departed != CUSTOMERS ||
           fabs(mean / theory - 1) > 0.02;
}
