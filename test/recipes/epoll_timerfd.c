/* epoll_timerfd.c - timers below a millisecond in a loop around epoll.
 *
 * Says when you have not typed for 250 ms. A timerfd takes each new deadline in
 * nanoseconds; ticks are 50 us. With -DCLOCK=CLOCK_BOOTTIME a suspend counts,
 * and what came due in it fires when the machine goes on.
 *     cc -std=gnu99 -Wall -Wextra epoll_timerfd.c -o timerfd && ./timerfd
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
#define SECOND (1000 * MS)
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC /* stands while the machine is suspended */
#endif

static struct session {
    tw_timer silence;
    unsigned count;
} session;

static timingwheel timers;
static int poller;
static bool is_open;

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* Returns true if there was input: the silence begins anew. */
static bool read_input(void)
{
    char bytes[4096];
    struct pollfd input = {.fd = 0, .events = POLLIN};
    if (!is_open || poll(&input, 1, 0) <= 0)
        return false;
    if (read(0, bytes, sizeof(bytes)) > 0) {
        tw_postpone_after(&timers, &session.silence, clock_ns(), 250 * MS);
        return true;
    }
    epoll_ctl(poller, EPOLL_CTL_DEL, 0, NULL);
    return is_open = false;
}

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    if (read_input()) /* input that came while the loop stood still */
        return;
    dprintf(1, "silence %u\n",
            ++TW_OWNER(timer, struct session, silence)->count);
}

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    uint64_t next, set = 0; /* the deadline of `wake`; 0: none */
    poller = epoll_create1(EPOLL_CLOEXEC);
    int wake = poller < 0 ? -1 : timerfd_create(CLOCK, TFD_CLOEXEC);
    if (wake < 0) /* no file is left, or the kernel has no such clock */
        return perror("timerfd"), 1;
    is_open = epoll_ctl(poller, EPOLL_CTL_ADD, 0, &event) == 0;
    event = (struct epoll_event){EPOLLIN | EPOLLET, {.fd = wake}};
    epoll_ctl(poller, EPOLL_CTL_ADD, wake, &event);
    tw_timer_init(&session.silence, on_silence);
    tw_init(&timers, &(tw_config){.tick = MS / 20, .start = clock_ns()});
    while (is_open || tw_count(&timers) > 0) {
        if (tw_next_deadline(&timers, &next) && next != set) {
            struct itimerspec at = {
                .it_value = {(time_t)(next / SECOND), (long)(next % SECOND)}};
            timerfd_settime(wake, TFD_TIMER_ABSTIME, &at, NULL);
            set = next;
        }
        epoll_wait(poller, &event, 1, -1);
        tw_advance_clock(&timers, clock_ns());
        if (event.data.fd == wake)
            set = 0; /* has gone off */
        read_input();
    }
    tw_destroy(&timers);
    return close(wake) + close(poller);
}
