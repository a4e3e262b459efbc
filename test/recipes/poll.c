/* poll.c - timingwheel.h in a loop around poll, on any POSIX system.
 *
 * The loop reads the clock once per turn, right after the sleep, and uses the
 * reading for the whole turn. The clock counts milliseconds, as poll does, so
 * that no wait needs rounding. In a finer unit, round the wait up: rounded
 * down, the loop spins until the deadline. A clock that steps back counts as
 * standing.
 *
 * The example: a child writes a byte every 20 ms. Each byte starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`; every fifth
 * cancels it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static timingwheel wheel;
static uint64_t now; /* as read in this turn */
static int bytes, pending, fired, early, late, idle;

static uint64_t read_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t reading =
        (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    return reading > now ? reading : now;
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += now < tw_deadline(timer);
    late += now > tw_deadline(timer) + 9;
}

static void on_readable(struct pollfd *input)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    char byte;
    if (read(input->fd, &byte, 1) != 1)
        input->fd = -1; /* the end of the file */
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(now, 2));
    tw_postpone(&wheel, &silence, tw_after(now, 150));
    if (++bytes % 5 == 0)
        pending -= tw_cancel(&wheel, &silence);
}

int main(void)
{
    FILE *child = popen("for i in $(seq 19); do sleep .02; echo; done", "r");
    struct pollfd input = {.events = POLLIN};
    now = read_clock();
    if (child == NULL || tw_init(&wheel, &(tw_config){.start = now}) != TW_OK)
        return 1;
    input.fd = fileno(child);
    while (bytes < 20 || tw_count(&wheel) > 0) {
        int ready = poll(&input, 1, (int)tw_wait(&wheel, now, 60000));
        now = read_clock();
        if (ready > 0)
            on_readable(&input);
        size_t count = tw_advance_clock(&wheel, now);
        idle += ready <= 0 && count == 0;
    }
    tw_destroy(&wheel);
    printf("poll: %d fired, %d early, %d lost, %d late, %d idle turns\n", fired,
           early, pending, late, idle);
    return (pclose(child) || early || pending || late > 10) + 2 * (idle > 10);
}
