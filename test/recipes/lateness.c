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
struct timingwheel;
struct tw_timer;
static void measure(struct timingwheel *tw, struct tw_timer *timer);
#define TW_CALL(tw, timer) measure((tw), (timer))
#define MS 1000
#define MOST_LATE (19 * MS)
#include "judge.h"
#include <dlfcn.h>

#define LOG2(us) (63 - __builtin_clzll((us) | 1)) /* rounded down */
#define ENTRIES 64 /* of callbacks that share an entry, the slowest is kept */
static struct {
    tw_callback *callback;
    uint64_t longest; /* in us */
} entries[ENTRIES];
static unsigned lateness[64], duration[64]; /* [i]: calls of 2^i us or more */

/* Fires `timer`. Reads the timer first: the callback may free the timer. */
static void measure(timingwheel *tw, tw_timer *timer)
{
    tw_callback *callback = timer->callback;
    size_t i = (uintptr_t)callback / 16 % ENTRIES;
    uint64_t start = now = read_clock();
    lateness[LOG2(start - tw_deadline(timer))]++;
    callback(tw, timer);
    uint64_t took = read_clock() - start;
    duration[LOG2(took)]++;
    if (took >= entries[i].longest)
        entries[i].callback = callback, entries[i].longest = took;
}

static void on_quick(timingwheel *tw, tw_timer *timer)
{
    judge_timer(tw, timer);
    if (++judge.events < 4 * EVENTS)
        judge_start(timer, tw_after(now, 10 * MS));
}

void on_slow(timingwheel *tw, tw_timer *timer)
{
    usleep(5000);
    on_quick(tw, timer);
}

/* Prints the histograms and the callbacks. Returns true if on_slow is the
 * slowest. */
static bool report(void)
{
    size_t slowest = 0;
    for (int i = 0; i < 64; i++)
        if (lateness[i] + duration[i] > 0)
            printf("# 2^%d us: %u late, %u long\n", i, lateness[i],
                   duration[i]);
    for (size_t i = 0; i < ENTRIES; i++) {
        char *address = (char *)(uintptr_t)entries[i].callback;
        Dl_info info;
        if (dladdr(address, &info) == 0)
            continue;
        printf("# at most %.1f ms: %s, offset %#tx\n",
               (double)entries[i].longest / MS,
               info.dli_sname ? info.dli_sname : "a static function",
               address - (char *)info.dli_fbase);
        if (entries[i].longest > entries[slowest].longest)
            slowest = i;
    }
    return entries[slowest].callback == on_slow;
}

int main(void)
{
    tw_timer a = TW_TIMER_INIT(on_quick), b = TW_TIMER_INIT(on_slow);
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now});
    judge_start(&a, now), judge_start(&b, now);
    while (judge_turn()) {
        now = read_clock();
        tw_advance_clock(&wheel, now);
        usleep((useconds_t)tw_wait(&wheel, now = read_clock(), 999999));
    }
    return judge_end("lateness", report());
}
