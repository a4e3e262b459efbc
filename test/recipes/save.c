/* save.c - timers that outlive the process: reads a file of reminders, lets 100
 * ms pass, and writes those that are left to a file for the next run.
 *     cc -std=gnu99 -O2 -Wall -Wextra save.c -o save && ./save
 *     (date +%s%N; echo 250000000 tea; echo end) | ./save | ./save | ./save
 * They keep the time that was left, rounded up to a tick, and their order (but
 * postponed ones any order in a tick). `./save passed` takes off the time that
 * the file lay there, by the wall clock. It saves at an orderly end alone: what
 * must outlive a crash needs a log of starts. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
#define clock_ns() read_clock(CLOCK_MONOTONIC)
struct reminder {
    tw_timer timer;
    char text[128]; /* the payload: anything on one line, or nothing */
};
static bool has_passed; /* the argument */
static uint64_t read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void on_reminder(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fprintf(stderr, "%s\n", TW_OWNER(timer, struct reminder, timer)->text);
}

static void write_line(FILE *file, const tw_timer *timer, uint64_t left)
{
    const struct reminder *r = TW_OWNER(timer, const struct reminder, timer);
    fprintf(file, "%" PRIu64 " %s\n", left, r->text);
}

static void write_never(tw_timer *timer, void *file)
{
    write_line(file, timer, UINT64_MAX);
}

/* Takes all timers out, in order, with the time left until their ticks (of two
 * in a tick, the later may come first). False: keep the file of before. */
static bool save(timingwheel *tw, FILE *file)
{
    uint64_t now = clock_ns();
    fprintf(file, "%" PRIu64 "\n", read_clock(CLOCK_REALTIME));
    for (tw_timer *timer; (timer = tw_poll(tw, UINT64_MAX)) != NULL;)
        write_line(file, timer, tw_now(tw) > now ? tw_now(tw) - now : 0);
    tw_drain(tw, write_never, file); /* those that never fire */
    tw_destroy(tw);
    return fputs("end\n", file) >= 0 && fflush(file) == 0 && !ferror(file);
}

static bool read_number(const char *line, char **rest, uint64_t *number)
{
    errno = 0; /* no sign, no space, no overflow */
    *number = strtoull(line, rest, 10);
    return isdigit((unsigned char)line[0]) && errno == 0;
}

/* Starts the timers in the order of the file. False: it is not whole, or has
 * another form; then some may have started. */
static bool load(timingwheel *tw, FILE *file, struct reminder *all, int most)
{
    uint64_t now = clock_ns(), wall = read_clock(CLOCK_REALTIME), saved, left;
    char line[160], *text;
    tw_init(tw, &(tw_config){.tick = MS, .start = now});
    if (fgets(line, sizeof(line), file) == NULL ||
        !read_number(line, &text, &saved) || strcmp(text, "\n") != 0)
        return false;
    for (int i = 0; fgets(line, sizeof(line), file) != NULL; i++) {
        if (strcmp(line, "end\n") == 0)
            return fgetc(file) == EOF;
        if (i == most || !read_number(line, &text, &left) || *text != ' ' ||
            strlen(text) > sizeof(all->text) + 1 || strchr(text, '\n') == NULL)
            return false;
        sprintf(all[i].text, "%.*s", (int)strcspn(text, "\n") - 1, text + 1);
        if (has_passed && left != UINT64_MAX && saved < wall) /* not never */
            left -= left < wall - saved ? left : wall - saved;
        tw_timer_init(&all[i].timer, on_reminder);
        tw_start(tw, &all[i].timer, tw_after(now, left));
    }
    return false;
}

int main(int argc, char **argv)
{
    static struct reminder all[1000];
    timingwheel tw;
    has_passed = argc > 1 && strcmp(argv[1], "passed") == 0;
    if (!load(&tw, stdin, all, 1000))
        return fputs("the file is not whole\n", stderr), 1;
    nanosleep(&(struct timespec){0, 100 * MS}, NULL); /* as if your loop ran */
    tw_advance_clock(&tw, clock_ns());
    return !save(&tw, stdout);
}
