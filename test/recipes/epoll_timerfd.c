/* epoll_timerfd.c - timingwheel.h in a loop around epoll, below a millisecond.
 *
 * A timerfd carries the wheel, and is set only when the next deadline changes.
 * The timerfd takes the deadline in nanoseconds of the same clock. The loop
 * computes and rounds no wait. A tick of 50 us saves wake-ups.
 *
 * The example: a child writes a byte every 20 ms. Each byte starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`; every fifth
 * cancels it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define US UINT64_C(1000)
#define SECOND UINT64_C(1000000000)

static timingwheel wheel;
static uint64_t now; /* as read in this turn */
static int poller, wake;
static uint64_t wake_deadline; /* the deadline of `wake`; 0: not set */
static int bytes, pending, fired, early, late, idle;

static uint64_t read_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t reading = (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
    return reading > now ? reading : now;
}

static void move_wake(void)
{
    uint64_t deadline = 0;
    tw_next_deadline(&wheel, &deadline);
    if (deadline != wake_deadline) {
        struct itimerspec at = {.it_value = {(time_t)(deadline / SECOND),
                                             (long)(deadline % SECOND)}};
        timerfd_settime(wake, TFD_TIMER_ABSTIME, &at, NULL);
        wake_deadline = deadline;
    }
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
        epoll_ctl(poller, EPOLL_CTL_DEL, fd, NULL); /* the end of the file */
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
    struct epoll_event event = {.events = EPOLLIN};
    tw_config config = {.start = now = read_clock(), .tick = 50 * US};
    if (child == NULL || tw_init(&wheel, &config) != TW_OK)
        return 1;
    poller = epoll_create1(EPOLL_CLOEXEC);
    wake = event.data.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    epoll_ctl(poller, EPOLL_CTL_ADD, wake, &event);
    event.data.fd = fileno(child);
    epoll_ctl(poller, EPOLL_CTL_ADD, event.data.fd, &event);
    while (bytes < 20 || tw_count(&wheel) > 0) {
        move_wake();
        int ready = epoll_wait(poller, &event, 1, -1);
        now = read_clock();
        if (ready == 1 && event.data.fd == wake)
            wake_deadline = UINT64_MAX; /* gone off: to be set anew */
        else if (ready == 1)
            on_readable(event.data.fd);
        size_t count = tw_advance_clock(&wheel, now);
        idle += event.data.fd == wake && count == 0;
    }
    tw_destroy(&wheel);
    printf(
        "epoll_timerfd: %d fired, %d early, %d lost, %d late, %d idle turns\n",
        fired, early, pending, late, idle);
    return (pclose(child) || early || pending || late > 10) + 2 * (idle > 10);
}
