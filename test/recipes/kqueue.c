/* kqueue.c - timers in a loop around kqueue, on BSD and macOS.
 *
 * Says when you have not typed for 250 ms. The sleep is the timeout of kevent,
 * in nanoseconds: an EVFILT_TIMER would cost a change per deadline.
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
    struct kevent event;
    int queue = kqueue();
    bool is_open = true;
    EV_SET(&event, 0, EVFILT_READ, EV_ADD, 0, 0, NULL); /* standard input */
    if (kevent(queue, &event, 1, NULL, 0, NULL) != 0)
        return 1;
    tw_init(&timers, &(tw_config){.tick = MS / 20, .start = clock_ns()});
    while (is_open || tw_count(&timers) > 0) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 60 * SECOND);
        struct timespec most = {(time_t)(wait / SECOND), (long)(wait % SECOND)};
        int ready = kevent(queue, NULL, 0, &event, 1, &most);
        tw_advance_clock(&timers, clock_ns());
        if (ready > 0 && !read_input()) {
            EV_SET(&event, 0, EVFILT_READ, EV_DELETE, 0, 0, NULL);
            is_open = kevent(queue, &event, 1, NULL, 0, NULL) != 0;
        }
    }
    tw_destroy(&timers);
    return close(queue);
}
