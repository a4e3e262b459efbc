/* set_clock.h - a wall clock that somebody sets: an hour back 200 ms after its
 * first reading, and two hours ahead after 400 ms.
 *
 *     cc -include set_clock.h ...
 *
 * SPDX-License-Identifier: MIT */
#include <time.h>

static int set_clock(clockid_t id, struct timespec *t)
{
    static long first;
    clock_gettime(CLOCK_MONOTONIC, t);
    long ms = (long)t->tv_sec * 1000 + t->tv_nsec / 1000000;
    first = first == 0 ? ms : first;
    clock_gettime(id, t);
    t->tv_sec += ms < first + 200 ? 0 : ms < first + 400 ? -3600 : 3600;
    return 0;
}

#define clock_gettime set_clock
