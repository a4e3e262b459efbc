/* lateness.c - finds the callbacks that delay a loop. TW_CALL fills histograms
 * of lateness and of callback time, and keeps the longest time per callback.
 *
 * Lateness counts from the deadline to the start of the callback: a callback of
 * 5 ms makes every timer late that is due meanwhile. dladdr finds names that
 * -rdynamic exports. For the rest, use `addr2line -f -e PROGRAM OFFSET`.
 *
 * The example: a quick and a slow timer. Exit code: 1 for early, lost or late
 * timers, or if on_slow is not named as the slowest; 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dladdr, usleep */
#include "../../timingwheel.h"
static void measure(timingwheel *tw, tw_timer *timer);
#define TW_CALL(tw, timer) measure((tw), (timer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#define LOG2(us) (63 - __builtin_clzll((us) | 1)) /* rounded down */
#define ENTRIES 64 /* of callbacks that share an entry, the slowest is kept */

static tw_callback *callbacks[ENTRIES];
static uint64_t longest[ENTRIES];           /* in us, of callbacks[i] */
static unsigned lateness[64], duration[64]; /* [i]: calls of 2^i us or more */
static uint64_t now;                        /* as read in this turn, in us */
static int fired, early, late, idle, lost = 81;

static uint64_t read_clock(void)
{
    static uint64_t last;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t us = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
    return last = us > last ? us : last;
}

/* Fires `timer`. Reads it first, since the callback may free the timer. */
static void measure(timingwheel *tw, tw_timer *timer)
{
    tw_callback *callback = timer->callback;
    uint64_t start = read_clock(), deadline = tw_deadline(timer);
    early += deadline > start, late += now > deadline + 19000;
    lateness[LOG2(start - deadline)]++;
    callback(tw, timer);
    uint64_t took = read_clock() - start;
    duration[LOG2(took)]++;
    size_t i = (uintptr_t)callback / 16 % ENTRIES;
    if (took >= longest[i])
        callbacks[i] = callback, longest[i] = took;
}

static void on_quick(timingwheel *tw, tw_timer *timer)
{
    if (fired++, --lost > 1) /* at 1, the other timer is pending */
        tw_start(tw, timer, tw_after(now, 10000));
}

void on_slow(timingwheel *tw, tw_timer *timer)
{
    usleep(5000);
    on_quick(tw, timer);
}

/* Returns true if on_slow is named, and named first. */
static bool report(void)
{
    Dl_info info, first = {0};
    for (int i = 63; i >= 0; i--) {
        if (lateness[i] + duration[i] > 0)
            printf("2^%d us: %u late, %u long\n", i, lateness[i], duration[i]);
        for (size_t j = 0; j < ENTRIES; j++) {
            char *address = (char *)(uintptr_t)callbacks[j];
            if (LOG2(longest[j]) != i || dladdr(address, &info) == 0)
                continue;
            printf("    %s, offset %#tx\n",
                   info.dli_sname ? info.dli_sname : "a static function",
                   address - (char *)info.dli_fbase);
            first = first.dli_fbase == NULL ? info : first;
        }
    }
    return first.dli_saddr == (char *)(uintptr_t)on_slow;
}

int main(void)
{
    tw_timer a = TW_TIMER_INIT(on_quick), b = TW_TIMER_INIT(on_slow);
    timingwheel tw;
    tw_init(&tw, &(tw_config){.start = now = read_clock()});
    tw_start(&tw, &a, now), tw_start(&tw, &b, now);
    while (tw_count(&tw) > 0) {
        usleep((useconds_t)tw_wait(&tw, read_clock(), 999999));
        idle += tw_advance_clock(&tw, now = read_clock()) == 0;
    }
    tw_destroy(&tw);
    printf("lateness: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, lost, late, idle);
    return (!report() || early || lost || late > 20) + 2 * (idle > 10);
}
