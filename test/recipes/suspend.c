/* suspend.c - time-outs that count time asleep, on Linux.
 *
 * CLOCK_BOOTTIME counts the time of a suspend, CLOCK_MONOTONIC does not. The
 * time-outs of epoll_wait, poll and select go by CLOCK_MONOTONIC: a wait of a
 * minute with an hour of suspend in between ends an hour late. A timerfd of
 * CLOCK_BOOTTIME goes off at resume (CLOCK_BOOTTIME_ALARM wakes the machine).
 * So the wheel counts CLOCK_BOOTTIME, and a timerfd carries the next deadline.
 *
 * A time of day becomes a deadline by its distance from CLOCK_REALTIME. Suspend
 * leaves the distance alone, but setting the clock does not. A timerfd with
 * TFD_TIMER_CANCEL_ON_SET reports that the clock was set.
 *
 * The example: `retry` fires 20 times, `session` after each hour, and `bell` at
 * a time of day. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* CLOCK_BOOTTIME */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define MS (SECOND / 1000)
#define HOUR (3600 * SECOND)

static void on_timer(timingwheel *tw, tw_timer *timer);
static timingwheel wheel;
static tw_timer retry = TW_TIMER_INIT(on_timer), bell = TW_TIMER_INIT(on_timer);
static tw_timer session = TW_TIMER_INIT(on_timer);
static uint64_t now, bell_time; /* CLOCK_BOOTTIME of this turn; time of day */
static int retries = 20, fired, early, late, is_late, idle;

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void set_timerfd(int fd, int flags, uint64_t at)
{
    struct itimerspec t = {{0}, {(time_t)(at / SECOND), (long)(at % SECOND)}};
    timerfd_settime(fd, TFD_TIMER_ABSTIME | flags, &t, NULL);
}

/* The time of day is read first: then the bell is not early. */
static void start_bell(void)
{
    uint64_t today = read_clock(CLOCK_REALTIME);
    uint64_t wait = bell_time > today ? bell_time - today : 0;
    tw_start(&wheel, &bell, tw_after(read_clock(CLOCK_BOOTTIME), wait));
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    fired++, early += now < tw_deadline(timer);
    is_late |= now > tw_deadline(timer) + 9 * MS;
    if (timer == &retry && --retries > 0)
        tw_start(tw, timer, tw_after(now, 20 * MS));
    if (timer == &session)
        tw_start(tw, timer, tw_after(now, HOUR));
    early += timer == &bell && read_clock(CLOCK_REALTIME) < bell_time;
}

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int poller = epoll_create1(EPOLL_CLOEXEC);
    int wake = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    int set = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    epoll_ctl(poller, EPOLL_CTL_ADD, wake, &event);
    epoll_ctl(poller, EPOLL_CTL_ADD, set, &event);
    set_timerfd(set, TFD_TIMER_CANCEL_ON_SET, INT64_MAX);
    tw_init(&wheel, &(tw_config){.start = now = read_clock(CLOCK_BOOTTIME)});
    bell_time = read_clock(CLOCK_REALTIME) + 2 * HOUR;
    start_bell();
    tw_start(&wheel, &retry, now), tw_start(&wheel, &session, now + HOUR);
    while (retries > 0) {
        uint64_t deadline = 0, ignored, reading;
        tw_next_deadline(&wheel, &deadline);
        set_timerfd(wake, 0, deadline);
        epoll_wait(poller, &event, 1, -1);
        reading = read_clock(CLOCK_BOOTTIME);
        now = reading > now ? reading : now;
        bool was_set = read(set, &ignored, 8) < 0 && errno == ECANCELED;
        if (was_set && tw_is_pending(&bell))
            start_bell();
        idle += tw_advance_clock(&wheel, now) == 0 && !was_set;
        late += is_late, is_late = 0;
    }
    int lost = !tw_is_pending(&session) + (tw_wait(&wheel, now, 1) == 0);
    tw_destroy(&wheel);
    printf("suspend: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, lost, late, idle);
    return (early || lost || late > 10) + 2 * (idle > 10);
}
