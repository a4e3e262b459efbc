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
 * of two deadlines in a tick, the later one may come first. The first line is
 * their number. False: the file is not whole, so keep the one before. */
static bool save(timingwheel *tw, FILE *file)
{
    uint64_t now = clock_ns();
    tw_timer *timer;
    fprintf(file, "%zu\n", tw_count(tw));
    while ((timer = tw_poll(tw, UINT64_MAX)) != NULL) {
        uint64_t tick = tw_now(tw); /* an overdue timer has no time left */
        fprintf(file, "%" PRIu64 " %s\n", tick > now ? tick - now : 0,
                TW_OWNER(timer, struct reminder, timer)->text);
    }
    tw_destroy(tw); /* tw_drain first, to see timers that never fire */
    return fflush(file) == 0 && !ferror(file);
}

/* Starts the timers in the order of the file. False: the file is not whole, or
 * has too many, or a wheel has no memory. */
static bool load(timingwheel *tw, FILE *file, struct reminder *all, int most)
{
    uint64_t now = clock_ns(), left;
    int count;
    tw_init(tw, &(tw_config){.tick = MS, .start = now});
    if (fscanf(file, "%d", &count) != 1 || count > most)
        return false;
    for (int i = 0; i < count; i++) {
        tw_timer_init(&all[i].timer, on_reminder);
        if (fscanf(file, "%" SCNu64 " %15s", &left, all[i].text) != 2 ||
            fgetc(file) != '\n' ||
            tw_start_after(tw, &all[i].timer, now, left) != TW_OK)
            return false;
    }
    return true;
}

int main(void)
{
    static struct reminder all[8];
    static const char text[] =
        "3\n30000000 tea\n10000000 egg\n30000000 bread\n";
    timingwheel tw;
    FILE *file = tmpfile(), *saved = tmpfile();
    if (file == NULL || saved == NULL || fputs(text, file) < 0)
        return 1;
    rewind(file);
    if (!load(&tw, file, all, 8) || !save(&tw, saved))
        return 1;
    rewind(saved); /* here the process ends, and another one begins */
    if (!load(&tw, saved, all, 8))
        return 1;
    for (struct timespec ms = {0, 1000000}; tw_count(&tw) > 0;) {
        nanosleep(&ms, NULL); /* a real loop sleeps for tw_wait */
        tw_advance_clock(&tw, clock_ns());
    }
    tw_destroy(&tw);
    return fclose(file) + fclose(saved);
}
