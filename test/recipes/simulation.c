/* simulation.c - a timingwheel as the calendar of a simulation.
 *
 * The next event sets the time: the clock jumps from deadline to deadline, and
 * the time in between costs nothing. A million customers come to one counter;
 * theory says that they wait load / (1 - load) services, which is 1 here.
 *
 *     cc -std=c99 -Wall -Wextra simulation.c -lm -o queue && ./queue
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <math.h>
#include <stdio.h>

#define SERVICE 1e6  /* mean time of a service, in units of the clock */
#define INTERVAL 2e6 /* mean time between two customers */

struct counter {
    tw_timer arrival, departure;
    uint64_t last; /* the time of the last event */
    long arrived, departed;
    double waited; /* by all customers together */
};

/* Starts a timer after a random time, exponentially distributed. */
static void start(timingwheel *tw, tw_timer *timer, double mean)
{
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    double delay = -mean * log(((double)(z >> 11) + 0.5) / 0x1p53);
    tw_start_after(tw, timer, tw_now(tw), (uint64_t)delay);
}

/* All customers but the one at the counter have waited since the last event. */
static void note_event(struct counter *c, uint64_t now)
{
    long here = c->arrived - c->departed;
    if (here > 1)
        c->waited += (double)(now - c->last) * (double)(here - 1);
    c->last = now;
}

static void on_departure(timingwheel *tw, tw_timer *timer)
{
    struct counter *c = TW_OWNER(timer, struct counter, departure);
    note_event(c, tw_now(tw));
    if (++c->departed < c->arrived)
        start(tw, timer, SERVICE);
}

static void on_arrival(timingwheel *tw, tw_timer *timer)
{
    struct counter *c = TW_OWNER(timer, struct counter, arrival);
    note_event(c, tw_now(tw));
    if (++c->arrived < 1000000)
        start(tw, timer, INTERVAL);
    if (c->arrived - c->departed == 1)
        start(tw, &c->departure, SERVICE);
}

int main(void)
{
    timingwheel timers;
    struct counter c = {
        TW_TIMER_INIT(on_arrival), TW_TIMER_INIT(on_departure), 0, 0, 0, 0};
    uint64_t now;
    tw_init(&timers, NULL);
    start(&timers, &c.arrival, INTERVAL);
    while (tw_next_deadline(&timers, &now))
        tw_advance_clock(&timers, now);
    tw_destroy(&timers);
    printf("%ld served; a mean wait of %.4f services, in theory %.4f\n",
           c.departed, c.waited / (double)c.arrived / SERVICE,
           1 / (INTERVAL / SERVICE - 1));
    return 0;
}
