/* odd.c - a library to preload: gives a program a clock that misbehaves, and
 * counts how often the program sleeps. Linux only.
 *
 *     gcc -shared -fPIC odd.c -o odd.so
 *     ODD_CLOCK=jumps ODD_REPORT=FILE LD_PRELOAD=./odd.so PROGRAM
 *
 *     stands       stands for 10 ms of every 70, and catches up
 *     steps-back   steps back by 25 ms every 100 ms
 *     jumps        jumps ahead by an hour every 100 ms
 *     set          the wall clock alone: an hour back after 200 ms, and two
 *                  hours ahead after 400 ms
 *
 * At the end of the program, FILE holds the number of sleeps.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)
#define PERIOD (100 * MS)

static unsigned long sleeps;

#define REAL(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* Defines a function that counts its calls and calls the system's. No argument
 * is looked at: each is a register, and so is the result. */
#define COUNT(name)                                        \
    long name(long a, long b, long c, long d, long e);     \
    long name(long a, long b, long c, long d, long e)      \
    {                                                      \
        static long (*real)(long, long, long, long, long); \
        real = real ? real : REAL(name);                   \
        __sync_fetch_and_add(&sleeps, 1);                  \
        return real(a, b, c, d, e);                        \
    }

COUNT(poll)
COUNT(ppoll)
COUNT(epoll_wait)
COUNT(epoll_pwait)
COUNT(epoll_pwait2)
COUNT(io_uring_submit_and_wait_timeout)

static int64_t read_real(clockid_t id)
{
    static __typeof__(&clock_gettime) real;
    struct timespec t;
    real = real ? real : REAL(clock_gettime);
    real(id, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

/* Returns by how much the odd clock is ahead; *change: in how many ns the odd
 * clock jumps ahead. */
static int64_t offset_of(clockid_t id, int64_t *change)
{
    static int64_t first;
    const char *odd = getenv("ODD_CLOCK");
    int64_t at = read_real(CLOCK_MONOTONIC);
    first = first ? first : at;
    int64_t passed = at - first;
    *change = INT64_MAX;
    if (odd == NULL)
        return 0;
    if (strcmp(odd, "set") == 0)
        return id != CLOCK_REALTIME || passed < 200 * MS ? 0
               : passed < 400 * MS                       ? -HOUR
                                                         : HOUR;
    if (strcmp(odd, "stands") == 0)
        return passed % (70 * MS) < 10 * MS ? -(passed % (70 * MS)) : 0;
    if (strcmp(odd, "steps-back") == 0)
        return -passed / PERIOD * 25 * MS;
    *change = PERIOD - passed % PERIOD;
    return passed / PERIOD * HOUR;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    int64_t change, at = read_real(id);
    if (id != CLOCK_PROCESS_CPUTIME_ID && id != CLOCK_THREAD_CPUTIME_ID)
        at += offset_of(id, &change);
    *t = (struct timespec){at / SECOND, at % SECOND};
    return 0;
}

static clockid_t timer_clock = CLOCK_MONOTONIC;

int timerfd_create(clockid_t id, int flags)
{
    timer_clock = id;
    return REAL(timerfd_create)(id, flags);
}

/* A deadline of the odd clock is a time to wait for the system's clock. */
int timerfd_settime(int fd, int flags, const struct itimerspec *new,
                    struct itimerspec *old)
{
    static __typeof__(&timerfd_settime) real;
    struct itimerspec set = *new;
    struct timespec *t = &set.it_value;
    int64_t change, offset = offset_of(timer_clock, &change);
    int64_t wait = t->tv_sec * SECOND + t->tv_nsec - offset;
    real = real ? real : REAL(timerfd_settime);
    if (getenv("ODD_CLOCK") == NULL || !(flags & TFD_TIMER_ABSTIME) ||
        (t->tv_sec == 0 && t->tv_nsec == 0) || t->tv_sec > INT64_MAX / SECOND)
        return real(fd, flags, new, old);
    wait -= read_real(timer_clock);
    wait = wait > change ? change : wait > 0 ? wait : 1;
    *t = (struct timespec){wait / SECOND, wait % SECOND};
    return real(fd, flags & ~TFD_TIMER_ABSTIME, &set, old);
}

__attribute__((destructor)) static void report(void)
{
    const char *name = getenv("ODD_REPORT");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (file == NULL)
        return;
    fprintf(file, "%lu\n", sleeps);
    fclose(file);
}
