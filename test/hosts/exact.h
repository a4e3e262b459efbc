/* exact.h - the test of exactness for the timers of a host: each timer fires
 * once, in time and in order, while 2,000 timers start, move and stop at
 * random. The same program tests the unchanged host and the adapter.
 *
 * HOST/exact.c defines the macros and functions below, and calls host_fired for
 * each timer that fires. The program moves the clock, and no call sleeps:
 * functions below take the place of the C library's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef EXACT_H
#define EXACT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../lib/random.h"

#define TIMERS 2000

/* HOST_TICK: microseconds. The clock, delays and deadlines are multiples. */

static void host_begin(void); /* makes TIMERS timers */
static void host_start(int timer, uint64_t delay);
static void host_cancel(int timer);
static void host_run(void); /* fires all timers that are due, and returns */
static int host_end(void);  /* returns the number of faults found */

/* Microseconds; the time that the host reads. */
static uint64_t moved_clock = UINT64_C(1000000000000);

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
        return (int)syscall(SYS_clock_gettime, clock, time);
    time->tv_sec = (time_t)(moved_clock / 1000000);
    time->tv_nsec = (long)(moved_clock % 1000000) * 1000;
    return 0;
}

struct epoll_event;
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout);
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
    (void)fd, (void)events, (void)count, (void)timeout;
    return 0;
}

/* Both builds of a host get the same numbers. */
static uint64_t draw(uint64_t below)
{
    static uint64_t state = 1;
    return random_below(&state, below);
}

/* Returns a delay of at least one HOST_TICK, and less than `longest`. */
static uint64_t random_delay(uint64_t longest)
{
    return (1 + draw(longest / HOST_TICK - 1)) * HOST_TICK;
}

#define NEVER UINT64_MAX

static uint64_t due[TIMERS]; /* the deadline, or NEVER */
static uint64_t last_run;    /* the clock in the last host_run before */
static uint64_t latest;      /* due tick of the last timer that fired */
static int is_over;
static unsigned long fired, early, late, unwanted, out_of_order, lost;

static void start(int timer)
{
    uint64_t delay = random_delay(draw(10) == 0 ? 60000000 : 300000);
    due[timer] = moved_clock + delay;
    host_start(timer, delay);
}

static void host_fired(int timer)
{
    fired++;
    if (due[timer] == NEVER) {
        unwanted++;
        return;
    }
    early += moved_clock < due[timer];
    late += due[timer] <= last_run;
    out_of_order += due[timer] < latest;
    latest = due[timer];
    due[timer] = NEVER;
    if (!is_over && draw(2) == 0)
        start(timer);
}

static void run(uint64_t step)
{
    moved_clock += step * HOST_TICK;
    latest = 0;
    host_run();
    last_run = moved_clock;
}

static int exact(void)
{
    memset(due, 0xff, sizeof(due));
    run(0);
    for (int i = 0; i < 200000; i++) {
        int timer = (int)draw(TIMERS);
        if (i % 8 == 0) {
            due[timer] = NEVER;
            host_cancel(timer);
        } else {
            start(timer);
        }
        run(1 + draw(60));
    }
    is_over = 1;
    run(61000000 / HOST_TICK);
    for (int i = 0; i < TIMERS; i++)
        lost += due[i] != NEVER;
    printf("%lu fired, %lu early, %lu late, %lu unwanted, %lu out of order, "
           "%lu lost\n",
           fired, early, late, unwanted, out_of_order, lost);
    return fired < 10000 || early + late + unwanted + out_of_order + lost != 0;
}

int main(void)
{
    int failed;
    host_begin();
    failed = exact();
    return host_end() != 0 || failed;
}

#endif
