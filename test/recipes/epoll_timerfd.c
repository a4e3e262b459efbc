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
#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define SOON (MS / 5)
#include "judge.h"
#include <sys/epoll.h>
#include <sys/timerfd.h>

int main(void)
{
    int poller = epoll_create1(EPOLL_CLOEXEC), input = judge_input();
    int wake = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = wake};
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now, .tick = MS / 20});
    epoll_ctl(poller, EPOLL_CTL_ADD, wake, &event);
    event.data.fd = input;
    epoll_ctl(poller, EPOLL_CTL_ADD, input, &event);
    uint64_t wake_deadline = UINT64_MAX; /* the deadline of `wake`, if set */
    while (judge_turn()) {
        uint64_t next = UINT64_MAX, at;
        tw_next_deadline(&wheel, &next);
        at = next == UINT64_MAX ? 0 : system_time(next); /* 0: never */
        if (next != wake_deadline)
            timerfd_settime(
                wake, TFD_TIMER_ABSTIME,
                &(struct itimerspec){
                    {0}, {(time_t)(at / SECOND), (long)(at % SECOND)}},
                NULL);
        wake_deadline = next;
        int ready = epoll_wait(poller, &event, 1, -1);
        now = read_clock();
        tw_advance_clock(&wheel, now);
        if (ready == 1 && event.data.fd == wake)
            wake_deadline = 0; /* gone off: to be set anew */
        else if (ready == 1)
            judge_read(input);
    }
    return judge_end("epoll_timerfd", true);
}
