/* watch.c - the wheels turn in a terminal: 400 timers fire, and start again for
 * delays of up to 40 s. Watch buckets come nearer, move down and become empty.
 *
 *     cc -std=gnu99 -O2 -Wall -Wextra watch.c -o watch && ./watch 20
 *
 * It ends after 20 s, or with Ctrl-C. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MS UINT64_C(1000000) /* in nanoseconds */
enum { TIMERS = 400 };
static volatile sig_atomic_t is_stopped;

static void on_signal(int number)
{
    is_stopped = number;
}

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* Delays of every size: up to 40 s, 20 s, 10 s, ..., or 80 ms. */
static void start(timingwheel *tw, tw_timer *timer)
{
    uint64_t longest = 40000 >> rand() % 10;
    uint64_t delay = (uint64_t)rand() % longest * MS;
    tw_start_after(tw, timer, clock_ns(), delay);
}

static void print_line(const char *line, void *unused)
{
    (void)unused;
    printf("\033[K%s\n", line); /* clears the line first */
}

int main(int argc, char **argv)
{
    uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;
    static tw_timer timers[TIMERS];
    timingwheel tw;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    uint64_t now = clock_ns(), end = now + seconds * 1000 * MS, frame = now;
    tw_init(&tw, &(tw_config){.tick = 20 * MS, .start = now, .wheel_size = 16});
    for (int i = 0; i < TIMERS; i++) {
        tw_timer_init(&timers[i], start);
        start(&tw, &timers[i]);
    }
    printf("\033[2J"); /* an empty screen */
    while (!is_stopped && now < end) {
        poll(NULL, 0, (int)(tw_wait(&tw, clock_ns(), 100 * MS) / MS) + 1);
        now = clock_ns();
        tw_advance_clock(&tw, now);
        if (now < frame)
            continue;
        frame = tw_next_period(frame, 100 * MS, now, NULL);
        printf("\033[H"); /* the cursor to the top */
        tw_dump(&tw, print_line, NULL);
        printf("\033[J"); /* nothing below */
        fflush(stdout);
    }
    tw_destroy(&tw);
    return 0;
}
