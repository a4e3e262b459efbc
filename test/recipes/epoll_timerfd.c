/* epoll_timerfd.c - timers below a millisecond in a loop around epoll.
 * Says when you have not typed for 250 ms. A timerfd takes each new deadline in
 * nanoseconds; ticks are 50 us. With -DCLOCK=CLOCK_BOOTTIME a suspend counts,
 * and what came due in it fires when the machine goes on. A callback must not
 * run the loop.
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
static timingwheel timers;
static int poller, wake;
static uint64_t wake_at; /* the deadline of `wake`; 0: it has gone off */
static bool is_stopped;
static bool read_input(void); /* handles what has come; must not wait */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Returns false without a file, without such a clock, or if input is a file. */
static bool init(void)
{
    poller = epoll_create1(EPOLL_CLOEXEC);
    wake = timerfd_create(CLOCK, TFD_CLOEXEC);
    struct epoll_event go_off = {EPOLLIN | EPOLLET, {.fd = wake}};
    struct epoll_event input = {EPOLLIN, {.fd = 0}};
    tw_init(&timers, &(tw_config){.tick = MS / 20, .start = clock_ns()});
    return epoll_ctl(poller, EPOLL_CTL_ADD, wake, &go_off) == 0 &&
           epoll_ctl(poller, EPOLL_CTL_ADD, 0, &input) == 0;
}

static void arm(void)
{
    uint64_t next;
    if (!tw_next_deadline(&timers, &next) || next == wake_at)
        return;
    struct itimerspec at = {
        .it_value = {(time_t)(next / SECOND), (long)(next % SECOND)}};
    timerfd_settime(wake, TFD_TIMER_ABSTIME, &at, NULL);
    wake_at = next;
}

/* Ends `run` after this turn. For callbacks, and where input is handled. */
static void stop(void)
{
    is_stopped = true;
}

static void run(void)
{
    for (is_stopped = false; !is_stopped; read_input()) {
        struct epoll_event event = {0};
        arm();
        epoll_wait(poller, &event, 1, -1);
        if (event.data.fd == wake)
            wake_at = 0;
        tw_advance_clock(&timers, clock_ns());
    }
}

/* The example. */
static tw_timer silence;

/* Returns true if there was input: the silence begins anew. */
static bool read_input(void)
{
    char bytes[4096];
    if (poll(&(struct pollfd){0, POLLIN, 0}, 1, 0) <= 0)
        return false;
    if (read(0, bytes, sizeof(bytes)) > 0) {
        tw_postpone_after(&timers, &silence, clock_ns(), 250 * MS);
        return true;
    }
    epoll_ctl(poller, EPOLL_CTL_DEL, 0, NULL); /* the end of the input */
    if (!tw_is_pending(&silence))
        stop();
    return false;
}

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    static unsigned count;
    (void)tw, (void)timer;
    if (!read_input()) /* input that came while the loop stood still */
        dprintf(1, "silence %u\n", ++count);
}

int main(void)
{
    tw_timer_init(&silence, on_silence);
    if (!init())
        return perror("epoll_timerfd"), 1;
    run();
    tw_destroy(&timers);
    close(wake), close(poller);
}
