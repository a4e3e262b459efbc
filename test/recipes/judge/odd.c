/* odd.c - a library to preload: gives a program a clock that misbehaves, and
 * counts how often the program sleeps. Linux only.
 *
 *     gcc -shared -fPIC odd.c -o odd.so
 *     ODD_CLOCK=jumps ODD_REPORT=FILE LD_PRELOAD=./odd.so PROGRAM
 *
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

/* Returns by how much the odd clock is ahead, `passed` after its first use. */
static int64_t offset_of(clockid_t id, int64_t passed)
{
    const char *odd = getenv("ODD_CLOCK");
    if (strcmp(odd, "set") == 0)
        return id != CLOCK_REALTIME || passed < 200 * MS ? 0
               : passed < 400 * MS                       ? -HOUR
                                                         : HOUR;
    if (strcmp(odd, "steps-back") == 0)
        return -passed / PERIOD * 25 * MS;
    return strcmp(odd, "jumps") == 0 ? passed / PERIOD * HOUR : 0;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    static __typeof__(&clock_gettime) real;
    static int64_t first;
    real = real ? real : REAL(clock_gettime);
    real(CLOCK_MONOTONIC, t);
    int64_t at = t->tv_sec * SECOND + t->tv_nsec;
    first = first ? first : at;
    int64_t passed = at - first;
    real(id, t);
    at = t->tv_sec * SECOND + t->tv_nsec + offset_of(id, passed);
    *t = (struct timespec){at / SECOND, at % SECOND};
    return 0;
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
