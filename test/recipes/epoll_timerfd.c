/* epoll_timerfd.c - timingwheel.h in a loop around epoll, below a millisecond.
 *
 * A timerfd carries the wheel, and is set only when the next deadline changes.
 * The timerfd takes the deadline in nanoseconds of the same clock: the loop
 * computes and rounds no wait. A tick of 50 us saves wake-ups.
 *
 *     cc epoll_timerfd.c && ./a.out      (judge.h has the example)
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <sys/epoll.h>
#include <sys/timerfd.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define SOON (MS / 5)
static uint64_t now; /* the reading of this turn, in nanoseconds */
#include "judge.h"

int main(void)
{
    timingwheel tw;
    int poller = epoll_create1(EPOLL_CLOEXEC), input = judge_input();
    int wake = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = wake};
    tw_config config = {.start = now = read_clock(), .tick = MS / 20};
    if (tw_init(&tw, &config) != TW_OK)
        return 1;
    epoll_ctl(poller, EPOLL_CTL_ADD, wake, &event);
    event.data.fd = input;
    epoll_ctl(poller, EPOLL_CTL_ADD, input, &event);
    uint64_t wake_deadline = 0; /* the deadline of `wake`; 0: not set */
    while (judge_turn(&tw)) {
        uint64_t next = 0;
        tw_next_deadline(&tw, &next);
        struct itimerspec at = {
            {0}, {(time_t)(next / SECOND), (long)(next % SECOND)}};
        if (next != wake_deadline)
            timerfd_settime(wake, TFD_TIMER_ABSTIME, &at, NULL);
        wake_deadline = next;
        int ready = epoll_wait(poller, &event, 1, -1);
        now = read_clock();
        tw_advance_clock(&tw, now);
        if (ready == 1 && event.data.fd == wake)
            wake_deadline = UINT64_MAX; /* gone off: to be set anew */
        else if (ready == 1 && !judge_read(&tw, input))
            epoll_ctl(poller, EPOLL_CTL_DEL, input, NULL);
    }
    tw_destroy(&tw);
    return judge_end("epoll_timerfd", true);
}
