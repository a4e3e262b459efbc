/* lateness.c - finds the callbacks that delay a loop. TW_CALL fills histograms
 * of lateness and of callback time, and keeps the longest time per callback.
 *
 * Lateness counts from the deadline to the start of the callback: a callback of
 * 5 ms makes every timer late that is due meanwhile. dladdr finds names that
 * -rdynamic exports. For the rest, use `addr2line -f -e PROGRAM OFFSET`.
 *
 *     cc -rdynamic lateness.c && ./a.out
 *
 * The example: a quick and a slow timer; on_slow must be named as the slowest.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dladdr, usleep */
#include "../../timingwheel.h"
static void measure(timingwheel *tw, tw_timer *timer);
#define TW_CALL(tw, timer) measure((tw), (timer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <dlfcn.h>

#define MS 1000
#define MOST_LATE (19 * MS)
static uint64_t now; /* the latest reading, in microseconds */
#include "judge.h"

#define LOG2(us) (63 - __builtin_clzll((us) | 1)) /* rounded down */
#define ENTRIES 64 /* of callbacks that share an entry, the slowest is kept */
static tw_callback *callbacks[ENTRIES];
static uint64_t longest[ENTRIES];           /* in us, of callbacks[i] */
static unsigned lateness[64], duration[64]; /* [i]: calls of 2^i us or more */

/* Fires `timer`. Reads the timer first: the callback may free the timer. */
static void measure(timingwheel *tw, tw_timer *timer)
{
    tw_callback *callback = timer->callback;
    size_t entry = (uintptr_t)callback / 16 % ENTRIES;
    uint64_t start = now = read_clock();
    lateness[LOG2(start - tw_deadline(timer))]++;
    callback(tw, timer);
    uint64_t took = read_clock() - start;
    duration[LOG2(took)]++;
    if (took >= longest[entry])
        callbacks[entry] = callback, longest[entry] = took;
}

static void on_quick(timingwheel *tw, tw_timer *timer)
{
    judge_timer(tw, timer);
    if (++judge.events < 4 * EVENTS)
        judge.armed++, tw_start(tw, timer, tw_after(now, 10 * MS));
}

void on_slow(timingwheel *tw, tw_timer *timer)
{
    usleep(5000);
    on_quick(tw, timer);
}

/* Prints the callbacks, the slowest first. Returns true if on_slow is first. */
static bool report(void)
{
    Dl_info info, first = {0};
    for (int i = 63; i >= 0; i--) {
        if (lateness[i] + duration[i] > 0)
            printf("# 2^%d us: %u late, %u long\n", i, lateness[i],
                   duration[i]);
        for (size_t j = 0; j < ENTRIES; j++) {
            char *address = (char *)(uintptr_t)callbacks[j];
            if (LOG2(longest[j]) != i || dladdr(address, &info) == 0)
                continue;
            printf("#     %s, offset %#tx\n",
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
    for (judge.armed = 2; judge_turn(&tw); now = read_clock()) {
        tw_advance_clock(&tw, now);
        usleep((useconds_t)tw_wait(&tw, now = read_clock(), 999999));
    }
    tw_destroy(&tw);
    return judge_end("lateness", report());
}
