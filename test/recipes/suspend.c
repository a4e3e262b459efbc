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
 * The example: `session` ends seven times, 150 ms after the last end. The test
 * lets the clock jump: each sleep is an hour, and one comes every 100 ms. The
 * loop must wake at once, not after the rest of the 150 ms.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* CLOCK_BOOTTIME */
#define CLOCK CLOCK_BOOTTIME
#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MOST_LATE (3600 * SECOND - 25 * MS)
#include "judge.h"
#include <sys/timerfd.h>

static void on_session(timingwheel *tw, tw_timer *timer)
{
    judge_timer(tw, timer);
    judge.events += 3;
    if (judge.events < EVENTS)
        judge_start(timer, tw_after(now, 150 * MS));
}

int main(void)
{
    tw_timer session = TW_TIMER_INIT(on_session);
    int wake = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now});
    judge_start(&session, tw_after(now, 150 * MS));
    while (judge_turn()) {
        uint64_t next = 0;
        tw_next_deadline(&wheel, &next);
        next = system_time(next);
        struct itimerspec at = {
            {0}, {(time_t)(next / SECOND), (long)(next % SECOND)}};
        timerfd_settime(wake, TFD_TIMER_ABSTIME, &at, NULL);
        if (read(wake, &next, sizeof(next)) < 0) /* sleeps */
            return 1;
        now = read_clock();
        tw_advance_clock(&wheel, now);
    }
    return judge_end("suspend", judge.late <= 2);
}
