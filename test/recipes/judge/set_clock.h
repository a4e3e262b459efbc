/* set_clock.h - for cc -include: a wall clock that somebody sets, 200 ms after
 * the first reading: an hour back, and from 3 s on an hour ahead. With DAYS, it
 * was as many days ahead. With ZONE, the time zone changes to that.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <time.h>

static int set_clock(clockid_t id, struct timespec *t)
{
    static long first;
    const char *days = getenv("DAYS"), *zone = getenv("ZONE");
    clock_gettime(CLOCK_MONOTONIC, t);
    long ms = (long)t->tv_sec * 1000 + t->tv_nsec / 1000000;
    first = first == 0 ? ms : first;
    clock_gettime(id, t);
    if (ms < first + 200)
        t->tv_sec += days != NULL ? atol(days) * 86400 : 0;
    else if (days == NULL)
        t->tv_sec += ms < first + 3000 ? -3600 : 3600;
    else if (zone != NULL)
        setenv("TZ", zone, 1);
    return 0;
}

#define clock_gettime set_clock
