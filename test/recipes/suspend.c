/* suspend.c - time-outs that count time asleep, on Linux.
 *
 * CLOCK_BOOTTIME counts the time of a suspend, CLOCK_MONOTONIC does not. The
 * time-outs of epoll_wait, poll and select go by CLOCK_MONOTONIC: a wait of a
 * minute with an hour of suspend in between ends an hour late. A timerfd of
 * CLOCK_BOOTTIME goes off at resume (CLOCK_BOOTTIME_ALARM wakes the machine).
 * So the wheel counts CLOCK_BOOTTIME, and a timerfd carries the next deadline.
 * For times of day see wall_clock.c.
 *
 *     cc suspend.c && ./a.out
 *
 * The example: `session` ends seven times, 150 ms after the last end. On the
 * machine of the test, each sleep is an hour, and one comes every 100 ms. The
 * loop must wake at once, not after the rest of the 150 ms.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* CLOCK_BOOTTIME */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <sys/epoll.h>
#include <sys/timerfd.h>

#define CLOCK CLOCK_BOOTTIME
#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MOST_LATE (3600 * SECOND - 25 * MS)
static uint64_t now; /* the reading of this turn, in nanoseconds */
#include "judge.h"

static void on_session(timingwheel *tw, tw_timer *timer)
{
    judge_timer(tw, timer);
    judge.events += 3;
    if (judge.events < EVENTS)
        judge.armed++, tw_start(tw, timer, tw_after(now, 150 * MS));
}

int main(void)
{
    timingwheel tw;
    tw_timer session = TW_TIMER_INIT(on_session);
    struct epoll_event event = {.events = EPOLLIN};
    int poller = epoll_create1(EPOLL_CLOEXEC);
    int wake = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    epoll_ctl(poller, EPOLL_CTL_ADD, wake, &event);
    now = read_clock();
    if (tw_init(&tw, &(tw_config){.start = now}) != TW_OK)
        return 1;
    tw_start(&tw, &session, tw_after(now, 150 * MS));
    for (judge.armed = 1; judge_turn(&tw);) {
        uint64_t deadline = 0;
        tw_next_deadline(&tw, &deadline);
        struct itimerspec at = {
            {0}, {(time_t)(deadline / SECOND), (long)(deadline % SECOND)}};
        timerfd_settime(wake, TFD_TIMER_ABSTIME, &at, NULL);
        epoll_wait(poller, &event, 1, -1);
        now = read_clock();
        tw_advance_clock(&tw, now);
    }
    tw_destroy(&tw);
    return judge_end("suspend", judge.late <= 2);
}
