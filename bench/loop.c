/* SPDX-License-Identifier: MIT
 *
 * loop.c - virtual time for event loops. While bench_loop_clock is set, the
 * functions below take the place of the C library's: a loop reads this clock,
 * and a loop that sleeps moves this clock. No system call is made.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>

#include "bench.h"

int epoll_wait(int fd, void *events, int most, int timeout);
int epoll_pwait(int fd, void *events, int most, int timeout,
                const void *signals);

uint64_t *bench_loop_clock;

#ifdef __linux__

typedef int clock_function(clockid_t clock, struct timespec *time);
typedef int epoll_function(int fd, void *events, int most, int timeout,
                           const void *signals);

/* The bench itself reads process time and CLOCK_MONOTONIC_RAW. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static clock_function *original;

    if (bench_loop_clock != NULL &&
        (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)) {
        time->tv_sec = (time_t)(*bench_loop_clock / 1000);
        time->tv_nsec = (long)(*bench_loop_clock % 1000) * 1000000;
        return 0;
    }
    if (original == NULL)
        *(void **)&original = dlsym(RTLD_NEXT, "clock_gettime");
    return original(clock, time);
}

int epoll_pwait(int fd, void *events, int most, int timeout,
                const void *signals)
{
    static epoll_function *original;

    if (bench_loop_clock != NULL) {
        *bench_loop_clock += timeout > 0 ? (uint64_t)timeout : 0;
        return 0;
    }
    if (original == NULL)
        *(void **)&original = dlsym(RTLD_NEXT, "epoll_pwait");
    return original(fd, events, most, timeout, signals);
}

int epoll_wait(int fd, void *events, int most, int timeout)
{
    return epoll_pwait(fd, events, most, timeout, NULL);
}

#endif
