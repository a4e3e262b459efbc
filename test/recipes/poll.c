/* poll.c - timers in a loop around poll, on any POSIX system.
 *
 * Says when you have not typed for 250 ms. Take home what stands above "The
 * example". A callback must not run the loop.
 *
 * In a suspend CLOCK_MONOTONIC stands on Linux and FreeBSD, so timeouts take as
 * much longer. It counts on macOS and OpenBSD, as Linux's CLOCK_BOOTTIME does:
 * timeouts that ended meanwhile fire afterwards, all at once. Linux's poll does
 * not count a suspend: with CLOCK_BOOTTIME sleep for a second at most, or take
 * the timerfd of epoll_timerfd.c.
 *
 *     cc -std=c99 -Wall -Wextra poll.c -o poll && ./poll
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000) /* in nanoseconds */

static timingwheel timers;
static struct pollfd input = {.fd = 0, .events = POLLIN}; /* -1: has ended */
static bool is_stopped;

static bool read_input(void); /* handles what has come; must not wait */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void init(void)
{
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
}

/* Ends `run` after this turn. For callbacks, and where input is handled. */
static void stop(void)
{
    is_stopped = true;
}

/* A turn: sleep until the next deadline, without timers until there is input
 * (or 24 days, the most that poll takes), fire what is due, and then handle the
 * input. */
static void run(void)
{
    for (is_stopped = false; !is_stopped; read_input()) {
        uint64_t wait = tw_wait(&timers, clock_ns(), INT_MAX * MS);
        poll(&input, 1, (int)((wait + MS - 1) / MS)); /* rounded up */
        tw_advance_clock(&timers, clock_ns());
    }
}

/* ------------------------------------------------------------------------
 * The example. Input that has come beats the timeout, even if the process was
 * stopped meanwhile. */

static struct session {
    tw_timer silence;
    unsigned count;
} session;

/* Returns true if there was input: the silence begins anew. The delay counts
 * from here. One reading of the clock for a whole turn would save 20 ns, and
 * make delays shorter by the length of the turn. */
static bool read_input(void)
{
    char bytes[4096];
    if (poll(&input, 1, 0) <= 0)
        return false;
    if (read(0, bytes, sizeof(bytes)) > 0) {
        tw_postpone_after(&timers, &session.silence, clock_ns(), 250 * MS);
        return true;
    }
    input.fd = -1; /* the end of the input */
    if (tw_count(&timers) == 0)
        stop();
    return false;
}

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    struct session *s = TW_OWNER(timer, struct session, silence);
    (void)tw;
    if (read_input()) /* input that came while the loop stood still */
        return;
    dprintf(1, "silence %u\n", ++s->count);
    if (input.fd < 0)
        stop();
}

int main(void)
{
    init();
    tw_timer_init(&session.silence, on_silence);
    run();
    tw_destroy(&timers);
    return 0;
}
