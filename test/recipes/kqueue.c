/* kqueue.c - timingwheel.h in a loop around kqueue, for BSD and macOS.
 *
 * The sleep is the time-out of kevent, in nanoseconds: no wait is rounded. An
 * EVFILT_TIMER would cost a change per deadline, and its units and its clock
 * differ from system to system. A tick of 50 us saves wake-ups. A feature macro
 * such as _POSIX_C_SOURCE would hide kqueue. No run on BSD or macOS was made:
 * the tests run this file on Linux, on the stand-in of stand_in/kqueue.c.
 *
 * The example: a child writes a byte every 20 ms. Each byte starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`. Every fifth
 * byte cancels `silence`. Exit code: 1 for early, lost or late timers, 2 for
 * idle turns.
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <stdio.h>
#include <sys/types.h>
#include <sys/event.h>
#include <time.h>
#include <unistd.h>

#define US UINT64_C(1000)
#define SECOND UINT64_C(1000000000)

static timingwheel wheel;
static uint64_t now; /* the reading of this turn */
static int queue;
static int bytes, pending, fired, early, late, idle;

/* Returns nanoseconds. A clock that steps back counts as standing. */
static uint64_t read_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t reading = (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
    return reading > now ? reading : now;
}

/* Starts or stops to watch `fd`: `action` is EV_ADD or EV_DELETE. */
static int watch(int fd, unsigned short action)
{
    struct kevent change;
    EV_SET(&change, (unsigned)fd, EVFILT_READ, action, 0, 0, NULL);
    return kevent(queue, &change, 1, NULL, 0, NULL);
}

/* Sleeps until an event or the next deadline. Returns false for no event. */
static bool wait_for_event(struct kevent *event)
{
    uint64_t wait = tw_wait(&wheel, now, 60 * SECOND);
    struct timespec timeout = {(time_t)(wait / SECOND), (long)(wait % SECOND)};
    return kevent(queue, NULL, 0, event, 1, &timeout) > 0;
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += now < tw_deadline(timer);
    late += now > tw_deadline(timer) + 9000 * US;
}

static void on_readable(int fd)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    char byte;
    if (read(fd, &byte, 1) != 1)
        watch(fd, EV_DELETE); /* the end of the file */
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(now, 200 * US));
    tw_postpone(&wheel, &silence, tw_after(now, 150000 * US));
    if (++bytes % 5 == 0)
        pending -= tw_cancel(&wheel, &silence);
}

int main(void)
{
    FILE *child = popen("for i in $(seq 19); do sleep .02; echo; done", "r");
    struct kevent event;
    tw_config config = {.start = now = read_clock(), .tick = 50 * US};
    if (child == NULL || tw_init(&wheel, &config) != TW_OK ||
        (queue = kqueue()) < 0 || watch(fileno(child), EV_ADD) != 0)
        return 1;
    while (bytes < 20 || tw_count(&wheel) > 0) {
        bool ready = wait_for_event(&event);
        now = read_clock();
        if (ready)
            on_readable((int)event.ident);
        size_t count = tw_advance_clock(&wheel, now);
        idle += !ready && count == 0;
    }
    tw_destroy(&wheel);
    printf("kqueue: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, pending, late, idle);
    return (pclose(child) || early || pending || late > 10) + 2 * (idle > 10);
}
