/* measure.h - the test of exactness and the benchmark, for the timers of a
 * host. The same program measures the unchanged host and the adapter.
 *
 *     measure exact    each timer fires once, in time and in order, while 2,000
 *                      timers start, move and stop at random
 *     measure bench    processor time per operation, as lines "MEASURE|NUMBER"
 *
 * HOST/measure.c defines the macros and functions below, and calls host_fired
 * for each timer that fires. The program moves the clock, and no call sleeps:
 * functions below take the place of the C library's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* HOST_MOST   the most timers, at least 2,000
 * HOST_TICK   microseconds of a tick: deadlines are rounded up to ticks
 * HOST_STEP   microseconds: the clock moves by multiples
 * HOST_DELAY  microseconds: delays are multiples */

static void host_begin(void); /* makes HOST_MOST timers */
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

/* xorshift64, with a fixed seed: both builds of a host get the same numbers. */
static uint64_t next_random(void)
{
    static uint64_t state = UINT64_C(88172645463325252);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 16;
}

/* Returns a delay of at least one HOST_DELAY, and less than `longest`. */
static uint64_t random_delay(uint64_t longest)
{
    return (1 + next_random() % (longest / HOST_DELAY - 1)) * HOST_DELAY;
}

/* ---------------------------------------------------------------- exact --- */

#define TIMERS 2000
#define NEVER UINT64_MAX

static uint64_t due[HOST_MOST]; /* in `exact` the deadline, or NEVER */
static uint64_t last_run;       /* the clock in the last host_run before */
static uint64_t latest;         /* due tick of the last timer that fired */
static int is_exact, is_over;
static unsigned long fired, early, late, unwanted, out_of_order, lost;

static uint64_t rounded_up(uint64_t time)
{
    return (time + HOST_TICK - 1) / HOST_TICK * HOST_TICK;
}

static void start(int timer)
{
    uint64_t delay = random_delay(next_random() % 10 == 0 ? 60000000 : 300000);
    due[timer] = moved_clock + delay;
    host_start(timer, delay);
}

static void host_fired(int timer)
{
    fired++;
    if (!is_exact)
        return;
    if (due[timer] == NEVER) {
        unwanted++;
        return;
    }
    early += moved_clock < due[timer];
    late += rounded_up(due[timer]) <= last_run;
    out_of_order += rounded_up(due[timer]) < latest;
    latest = rounded_up(due[timer]);
    due[timer] = NEVER;
    if (!is_over && next_random() % 2 == 0)
        start(timer);
}

static void run(uint64_t step)
{
    moved_clock += step * HOST_STEP;
    latest = 0;
    host_run();
    last_run = moved_clock;
}

static int exact(void)
{
    is_exact = 1;
    memset(due, 0xff, sizeof(due));
    run(0);
    for (int i = 0; i < 200000; i++) {
        int timer = (int)(next_random() % TIMERS);
        if (i % 8 == 0) {
            due[timer] = NEVER;
            host_cancel(timer);
        } else {
            start(timer);
        }
        run(1 + next_random() % 60);
    }
    is_over = 1;
    run(61000000 / HOST_STEP);
    for (int i = 0; i < TIMERS; i++)
        lost += due[i] != NEVER;
    printf("%lu fired, %lu early, %lu late, %lu unwanted, %lu out of order, "
           "%lu lost\n",
           fired, early, late, unwanted, out_of_order, lost);
    return fired < 10000 || early + late + unwanted + out_of_order + lost != 0;
}

/* ---------------------------------------------------------------- bench --- */

static int order[HOST_MOST];

/* Runs an operation on `count` timers in random order. Returns nanoseconds of
 * processor time. */
static double time_of(int count, void (*operation)(int timer))
{
    struct timespec begin, end;
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int other = (int)(next_random() % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int i = 0; i < count; i++)
        operation(order[i]);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return (double)(end.tv_sec - begin.tv_sec) * 1e9 +
           (double)(end.tv_nsec - begin.tv_nsec);
}

static void start_any(int timer)
{
    host_start(timer, 10000000 + random_delay(30000000));
}

static void start_later(int timer)
{
    host_start(timer, 40000000);
}

static void step_1_ms(int unused)
{
    (void)unused;
    run(1000 / HOST_STEP);
}

/* Starts `count` timers, and then makes `count` turns of the loop that fire all
 * of them: one timer per turn on average. */
static int bench_with(int count)
{
    static const char *const names[] = {"start", "start again", "start later",
                                        "cancel", "fire, one per turn"};
    double ns[5] = {0};
    int rounds = count < 10000 ? 100 : 4;

    fired = 0;
    for (int r = 0; r < rounds; r++) {
        run(1);
        ns[0] += time_of(count, start_any);
        ns[1] += time_of(count, start_any);
        ns[2] += time_of(count, start_later);
        ns[3] += time_of(count, host_cancel);
        for (int i = 0; i < count; i++)
            host_start(i, random_delay((uint64_t)count * 1000));
        ns[4] += time_of(count, step_1_ms);
        step_1_ms(0); /* a deadline may have been rounded up */
    }
    for (int k = 0; k < 5; k++)
        printf("%s, %d timers|%.0f\n", names[k], count, ns[k] / rounds / count);
    return fired != (unsigned long)rounds * (unsigned long)count;
}

int main(int argc, char **argv)
{
    int failed;
    host_begin();
    if (argc > 1 && strcmp(argv[1], "exact") == 0)
        failed = exact();
    else
        failed = bench_with(1000) | bench_with(HOST_MOST);
    return host_end() != 0 || failed;
}

#endif
