/* poll.c - timers in a loop around poll, on any POSIX system.
 *
 * Says when you have not typed for 250 ms. Shows the turn of a loop: sleep
 * until the next deadline, fire what is due, and then handle the input.
 *
 *     cc -std=c99 -Wall -Wextra poll.c -o poll && ./poll
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000) /* in nanoseconds */

struct session {
    tw_timer silence;
    unsigned count;
};

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    struct session *s = TW_OWNER(timer, struct session, silence);
    (void)tw;
    printf("silence %u\n", ++s->count);
    fflush(stdout);
}

static timingwheel timers;
static struct session session = {TW_TIMER_INIT(on_silence), 0};

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* Returns false at the end of the input, or of the memory. */
static bool read_input(void)
{
    char bytes[4096];
    return read(0, bytes, sizeof(bytes)) > 0 &&
           tw_postpone_after(&timers, &session.silence, clock_ns(), 250 * MS) ==
               TW_OK;
}

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN}; /* -1 after its end */
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    while (input.fd == 0 || tw_count(&timers) > 0) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
        int ready = poll(&input, 1, (int)((wait + MS - 1) / MS)); /* up */
        tw_advance_clock(&timers, clock_ns());
        if (ready > 0 && !read_input())
            input.fd = -1;
    }
    tw_destroy(&timers);
    return 0;
}
