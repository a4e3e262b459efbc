/* epoll.c - timers in a plain loop around epoll, on Linux.
 *
 * Says when you have not typed for 250 ms. Shows how to round a wait up to the
 * milliseconds of epoll_wait: rounded down, the loop spins until the deadline.
 *
 *     cc -std=c99 -Wall -Wextra epoll.c -o epoll && ./epoll
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>
#include <sys/epoll.h>
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
           tw_postpone(&timers, &session.silence,
                       tw_after(clock_ns(), 250 * MS)) == TW_OK;
}

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int poller = epoll_create1(EPOLL_CLOEXEC);
    bool is_open = true;
    if (epoll_ctl(poller, EPOLL_CTL_ADD, 0, &event) != 0) {
        perror("standard input"); /* epoll takes no file */
        return 1;
    }
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    while (is_open || tw_count(&timers) > 0) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 60000 * MS);
        int ready = epoll_wait(poller, &event, 1, (int)((wait + MS - 1) / MS));
        tw_advance_clock(&timers, clock_ns());
        if (ready > 0 && !read_input())
            is_open = epoll_ctl(poller, EPOLL_CTL_DEL, 0, NULL) != 0;
    }
    tw_destroy(&timers);
    return close(poller);
}
