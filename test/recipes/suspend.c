/* suspend.c - timers that count the time in which a laptop sleeps, on Linux.
 *
 * Says when you have not typed for 250 ms, suspended or not. CLOCK_BOOTTIME
 * counts a suspend, and a timerfd of that clock goes off at resume: the timeout
 * of poll would go on where it stopped.
 *
 *     cc -std=c99 -Wall -Wextra suspend.c -o suspend && ./suspend
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* CLOCK_BOOTTIME */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <sys/timerfd.h>
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
    clock_gettime(CLOCK_BOOTTIME, &t);
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
    int wake = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    struct pollfd fds[] = {{.fd = 0, .events = POLLIN},
                           {.fd = wake, .events = POLLIN}};
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    while (fds[0].fd == 0 || tw_count(&timers) > 0) {
        uint64_t next = 0; /* never */
        tw_next_deadline(&timers, &next);
        struct itimerspec at = {
            .it_value = {(time_t)(next / SECOND), (long)(next % SECOND)}};
        timerfd_settime(wake, TFD_TIMER_ABSTIME, &at, NULL);
        if (poll(fds, 2, -1) < 0)
            continue; /* interrupted */
        tw_advance_clock(&timers, clock_ns());
        if (fds[0].revents != 0 && !read_input())
            fds[0].fd = -1;
    }
    tw_destroy(&timers);
    return close(wake);
}
