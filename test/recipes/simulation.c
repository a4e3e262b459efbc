/* simulation.c - timingwheel.h as the calendar of a simulation, without clock.
 *
 * The next event determines the time: the clock jumps from one deadline to the
 * next, and costs nothing in between.
 *
 *     cc simulation.c -lm -o simulation && ./simulation
 *
 * The example: a queue M/M/1. A million customers come, and are served one
 * after the other, at random with the mean times below. In theory they wait for
 * load / (1 - load) mean service times: 1 for a load of a half. The measured
 * mean has a standard error of 0.54 %, and may be 2 % off.
 *
 * SPDX-License-Identifier: MIT */
#define MS 1
#define MOST_LATE 0
#include "judge.h" /* `now`: the deadline that the clock has jumped to */
#include <math.h>

#define CUSTOMERS 1000000
#define SERVICE 1e6  /* mean time of a service, in units of the clock */
#define INTERVAL 2e6 /* mean time from one arrival to the next */
static uint64_t last_change;
static long arrived, departed;
static double waited; /* by all customers together, up to the last change */

/* Starts a timer after an exponentially distributed time; by splitmix64. */
static void start(tw_timer *timer, double mean)
{
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    double delay = -mean * log(((double)(z >> 11) + 0.5) / 0x1p53);
    judge_start(timer, tw_after(now, (uint64_t)delay));
}

/* All customers except the served customer have waited until now. */
static void note_change(timingwheel *tw, tw_timer *timer)
{
    long here = arrived - departed;
    waited += here > 1 ? (double)(now - last_change) * (double)(here - 1) : 0;
    last_change = now;
    judge_timer(tw, timer);
}

static void on_departure(timingwheel *tw, tw_timer *timer)
{
    note_change(tw, timer);
    if (arrived > ++departed)
        start(timer, SERVICE);
}

static tw_timer departure = TW_TIMER_INIT(on_departure);

static void on_arrival(timingwheel *tw, tw_timer *timer)
{
    note_change(tw, timer);
    if (++arrived < CUSTOMERS)
        start(timer, INTERVAL);
    if (arrived - departed == 1)
        start(&departure, SERVICE);
}

int main(void)
{
    tw_timer arrival = TW_TIMER_INIT(on_arrival);
    tw_init(&wheel, NULL);
    start(&arrival, INTERVAL);
    while (tw_next_deadline(&wheel, &now))
        judge.idle += tw_advance_clock(&wheel, now) == 0;
    double mean = waited / CUSTOMERS / SERVICE;
    double theory = 1 / (INTERVAL / SERVICE - 1);
    printf("# a mean wait of %.4f services, in theory %.4f\n", mean, theory);
    return judge_end("simulation", judge.fired == 2 * CUSTOMERS &&
                                       fabs(mean / theory - 1) < 0.02);
}
