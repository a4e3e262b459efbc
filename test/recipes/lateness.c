/* lateness.c - finds the callbacks that make a loop late.
 *
 * TW_CALL measures how late each timer fires and how long its callback takes,
 * and names the slowest. dladdr finds what -rdynamic exports; for the rest give
 * the offset to `addr2line -f -e PROGRAM`.
 *
 *     cc -std=gnu99 -Wall -Wextra -rdynamic lateness.c -o late -ldl && ./late
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dladdr */
struct timingwheel;
struct tw_timer;
static void measure(struct timingwheel *tw, struct tw_timer *timer);
#define TW_CALL(tw, timer) measure((tw), (timer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LOG2(us) (63 - __builtin_clzll((us) | 1)) /* rounded down */

static unsigned late[64], took[64]; /* [i]: calls of 2^i us or more */
static tw_callback *slowest;
static uint64_t longest;

static uint64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Reads the timer first: the callback may free the timer. */
static void measure(timingwheel *tw, tw_timer *timer)
{
    tw_callback *callback = timer->callback;
    uint64_t start = clock_us(), deadline = tw_deadline(timer);
    late[LOG2(start > deadline ? start - deadline : 0)]++;
    callback(tw, timer);
    uint64_t time = clock_us() - start;
    took[LOG2(time)]++;
    if (time > longest)
        slowest = callback, longest = time;
}

void on_quick(timingwheel *tw, tw_timer *timer)
{
    tw_start_after(tw, timer, clock_us(), 10000);
}

void on_slow(timingwheel *tw, tw_timer *timer)
{
    usleep(5000); /* makes `quick` late, if it is due meanwhile */
    on_quick(tw, timer);
}

int main(void)
{
    timingwheel timers;
    tw_timer quick = TW_TIMER_INIT(on_quick), slow = TW_TIMER_INIT(on_slow);
    uint64_t end = tw_after(clock_us(), 1000000);
    Dl_info info;
    tw_init(&timers, &(tw_config){.start = clock_us()});
    tw_start(&timers, &quick, clock_us());
    tw_start(&timers, &slow, clock_us());
    for (; clock_us() < end; tw_advance_clock(&timers, clock_us()))
        usleep((useconds_t)tw_wait(&timers, clock_us(), 100000));
    for (int i = 0; i < 64; i++)
        if (late[i] + took[i] > 0)
            printf("2^%-2d us: %4u late, %4u long\n", i, late[i], took[i]);
    if (dladdr((void *)(uintptr_t)slowest, &info) != 0)
        printf("at most %.1f ms: %s, offset %#tx\n", (double)longest / 1000,
               info.dli_sname ? info.dli_sname : "a static function",
               (char *)(uintptr_t)slowest - (char *)info.dli_fbase);
    tw_destroy(&timers);
    return 0;
}
