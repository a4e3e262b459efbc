/* save.c - timers that outlive the process: their remaining time and payload, a
 * word, go to a file, and come back in the same order, each up to a tick later.
 * (Postponed timers may change places within their tick.)
 *     cc -std=gnu99 -O2 -Wall -Wextra save.c -o save && ./save
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#define MS UINT64_C(1000000) /* in nanoseconds */

struct reminder {
    tw_timer timer;
    char text[16]; /* the payload */
};
static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void on_reminder(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    puts(TW_OWNER(timer, struct reminder, timer)->text);
}

/* Takes all timers out, in order, with the time that is left until their ticks:
 * of two deadlines in a tick, the later one may come first. False: the file is
 * not whole. */
static bool save(timingwheel *tw, FILE *file)
{
    uint64_t now = clock_ns();
    tw_timer *timer;
    while ((timer = tw_poll(tw, UINT64_MAX)) != NULL) {
        uint64_t tick = tw_now(tw); /* an overdue timer has no time left */
        fprintf(file, "%" PRIu64 " %s\n", tick > now ? tick - now : 0,
                TW_OWNER(timer, struct reminder, timer)->text);
    }
    tw_destroy(tw); /* tw_drain first, to see timers that never fire */
    return fflush(file) == 0 && !ferror(file);
}

/* Starts the timers in the order of the file. Returns how many. */
static int load(timingwheel *tw, FILE *file, struct reminder *all, int most)
{
    uint64_t now = clock_ns(), left;
    int count = 0;
    tw_init(tw, &(tw_config){.tick = MS, .start = now});
    while (count < most &&
           fscanf(file, "%" SCNu64 " %15s", &left, all[count].text) == 2) {
        tw_timer_init(&all[count].timer, on_reminder);
        if (tw_start_after(tw, &all[count++].timer, now, left) != TW_OK)
            return -1; /* no memory */
    }
    return count;
}

int main(void)
{
    static struct reminder all[8];
    static const char text[] = "30000000 tea\n10000000 egg\n30000000 bread\n";
    timingwheel tw;
    FILE *file = tmpfile(), *saved = tmpfile();
    if (file == NULL || saved == NULL || fputs(text, file) < 0)
        return 1;
    rewind(file);
    if (load(&tw, file, all, 8) != 3)
        return 1;
    if (!save(&tw, saved))
        return 1;
    rewind(saved); /* here the process ends, and another one begins */
    if (load(&tw, saved, all, 8) != 3)
        return 1;
    for (struct timespec ms = {0, 1000000}; tw_count(&tw) > 0;) {
        nanosleep(&ms, NULL); /* a real loop sleeps for tw_wait */
        tw_advance_clock(&tw, clock_ns());
    }
    tw_destroy(&tw);
    return fclose(file) + fclose(saved);
}
