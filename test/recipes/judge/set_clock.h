/* set_clock.h - for cc -include: a wall clock that somebody sets. It is an hour
 * back from 200 ms after the first reading on, and an hour ahead from 3 s on.
 * SPDX-License-Identifier: MIT */
#include <time.h>

static int set_clock(clockid_t id, struct timespec *t)
{
    static long first;
    clock_gettime(CLOCK_MONOTONIC, t);
    long ms = (long)t->tv_sec * 1000 + t->tv_nsec / 1000000;
    first = first == 0 ? ms : first;
    clock_gettime(id, t);
    t->tv_sec += ms < first + 200 ? 0 : ms < first + 3000 ? -3600 : 3600;
    return 0;
}

#define clock_gettime set_clock
