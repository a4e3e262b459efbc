/* kqueue.c - timers in a loop around kqueue, on BSD and macOS.
 *
 * Says when you have not typed for 250 ms. The sleep is the timeout of kevent,
 * in nanoseconds: an EVFILT_TIMER would cost a change per deadline. A callback
 * must not run the loop. Tested on a stand-in for kqueue alone, not on a BSD.
 *
 *     cc -Wall -Wextra kqueue.c -o kqueue && ./kqueue
 * SPDX-License-Identifier: MIT */
#include <sys/types.h>
#include <sys/event.h> /* a macro such as _POSIX_C_SOURCE would hide kqueue */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000) /* in nanoseconds */
#define SECOND (1000 * MS)

static timingwheel timers;
static int queue;
static bool is_stopped;

static bool read_input(void); /* handles what has come; must not wait */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Returns false if the input cannot be watched. */
static bool init(void)
{
    struct kevent event;
    queue = kqueue();
    EV_SET(&event, 0, EVFILT_READ, EV_ADD, 0, 0, NULL); /* standard input */
    tw_init(&timers, &(tw_config){.tick = MS / 20, .start = clock_ns()});
    return kevent(queue, &event, 1, NULL, 0, NULL) == 0;
}

/* Ends `run` after this turn. For callbacks, and where input is handled. */
static void stop(void)
{
    is_stopped = true;
}

static bool has_input(uint64_t wait)
{
    struct kevent event;
    struct timespec most = {(time_t)(wait / SECOND), (long)(wait % SECOND)};
    return kevent(queue, NULL, 0, &event, 1, &most) > 0;
}

static void run(void)
{
    for (is_stopped = false; !is_stopped; read_input()) {
        has_input(tw_wait(&timers, clock_ns(), 60 * SECOND));
        tw_advance_clock(&timers, clock_ns());
    }
}

/* The example. Input that has come beats the timeout, even after a stall. */

static struct session {
    tw_timer silence;
    unsigned count;
    bool is_closed;
} session;

/* Returns true if there was input: the silence begins anew. */
static bool read_input(void)
{
    char bytes[4096];
    struct kevent event;
    if (session.is_closed || !has_input(0))
        return false;
    if (read(0, bytes, sizeof(bytes)) > 0) {
        tw_postpone_after(&timers, &session.silence, clock_ns(), 250 * MS);
        return true;
    }
    EV_SET(&event, 0, EVFILT_READ, EV_DELETE, 0, 0, NULL);
    kevent(queue, &event, 1, NULL, 0, NULL);
    session.is_closed = true;
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
    if (s->is_closed)
        stop();
}

int main(void)
{
    if (!init())
        return 1;
    tw_timer_init(&session.silence, on_silence);
    run();
    tw_destroy(&timers);
    return close(queue);
}
