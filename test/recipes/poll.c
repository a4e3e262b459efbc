/* poll.c - timers in a loop around poll, on any POSIX system.
 *
 * A line such as "250 tea" prints "tea" after 250 ms. Shows the turn of a loop:
 * sleep until the next deadline, fire what is due, and then handle the input.
 *
 *     cc -std=c99 -Wall -Wextra poll.c -o poll && ./poll
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>

#define MS UINT64_C(1000000) /* in nanoseconds */

struct reminder {
    tw_timer timer;
    char text[64];
};

static timingwheel timers;

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void on_due(timingwheel *tw, tw_timer *timer)
{
    struct reminder *r = TW_OWNER(timer, struct reminder, timer);
    (void)tw;
    puts(r->text);
    fflush(stdout);
    free(r);
}

static void add_reminder(const char *line)
{
    unsigned ms;
    struct reminder *r = malloc(sizeof(*r));
    if (r == NULL || sscanf(line, "%9u %63[^\n]", &ms, r->text) != 2) {
        free(r);
        return;
    }
    tw_timer_init(&r->timer, on_due);
    if (tw_start(&timers, &r->timer, tw_after(clock_ns(), ms * MS)) != TW_OK)
        free(r);
}

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN}; /* -1 after its end */
    char line[80];
    setvbuf(stdin, NULL, _IONBF, 0); /* what is buffered would not wake poll */
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    while (input.fd == 0 || tw_count(&timers) > 0) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 60000 * MS);
        int ready = poll(&input, 1, (int)((wait + MS - 1) / MS));
        tw_advance_clock(&timers, clock_ns());
        if (ready > 0 && fgets(line, sizeof(line), stdin) != NULL)
            add_reminder(line);
        else if (ready > 0)
            input.fd = -1;
    }
    tw_destroy(&timers);
    return 0;
}
