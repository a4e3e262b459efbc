/* sleeping_clock.c - the clocks of suspend.c, under test. ODD_CLOCK says how
 * they go, as a function of the real time since the first reading:
 *
 *     sleeps      the machine sleeps for an hour every 100 ms, so that
 *                 CLOCK_MONOTONIC falls behind CLOCK_BOOTTIME;
 *                 CLOCK_REALTIME is set back by an hour once, after 150 ms
 *     stands, steps-back, jumps    all clocks do, as in the other recipes
 *
 * A timerfd set to a point in time goes off when its own clock gets there, also
 * if the clock gets there by sleeping. Every sleep makes a timer of suspend.c
 * due, so that epoll_wait must return after each. If epoll_wait goes on, the
 * program ends with status 1.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)
#define PERIOD (100 * MS) /* from one sleep to the next */
#define SET_AT (150 * MS) /* when CLOCK_REALTIME is set back */
#define MOST_FILES 64

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __real_timerfd_create(clockid_t id, int flags);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *at,
                           struct itimerspec *old);
int __real_epoll_wait(int poller, struct epoll_event *events, int most, int ms);
ssize_t __real_read(int fd, void *buffer, size_t size);

/* The timerfds, by file descriptor. */
static struct file {
    clockid_t clock;
    int flags;
    int64_t at;        /* by the clock under test; 0: not set */
    bool is_cancelled; /* the clock was set */
} files[MOST_FILES];

static int64_t real_time(clockid_t id)
{
    struct timespec t;
    __real_clock_gettime(id, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

/* The real time since the first call. */
static int64_t passed(void)
{
    static int64_t first;
    int64_t reading = real_time(CLOCK_MONOTONIC);
    first = first == 0 ? reading : first;
    return reading - first;
}

static bool is(const char *clock)
{
    return strcmp(getenv("ODD_CLOCK"), clock) == 0;
}

static void fail(const char *what)
{
    puts(what);
    fflush(stdout);
    _Exit(1);
}

/* By how much a clock under test is ahead of the real clock. */
static int64_t offset(clockid_t id, int64_t at)
{
    if (is("stands"))
        return at % (70 * MS) < 10 * MS ? -(at % (70 * MS)) : 0;
    if (is("steps-back"))
        return -25 * MS * (at / PERIOD);
    if (is("sleeps") && id == CLOCK_MONOTONIC)
        return 0;
    if (is("sleeps") && id == CLOCK_REALTIME && at >= SET_AT)
        return HOUR * (at / PERIOD) - HOUR;
    return HOUR * (at / PERIOD); /* sleeps or jumps */
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    int64_t now = real_time(id) + offset(id, passed());
    t->tv_sec = now / SECOND;
    t->tv_nsec = now % SECOND;
    return 0;
}

int __wrap_timerfd_create(clockid_t id, int flags)
{
    int fd = __real_timerfd_create(id, flags);
    if (fd < 0 || fd >= MOST_FILES)
        fail("timerfd_create failed");
    files[fd].clock = id;
    return fd;
}

/* Sets a timerfd by the real clock. */
static int set_real(int fd)
{
    struct file *file = &files[fd];
    int64_t at = file->at - offset(file->clock, passed());
    at = file->is_cancelled || at < 1 ? 1 : at;
    at = file->at == 0 ? 0 : at;
    struct itimerspec new = {{0}, {at / SECOND, at % SECOND}};
    return __real_timerfd_settime(fd, file->flags, &new, NULL);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new,
                           struct itimerspec *old)
{
    if ((flags & TFD_TIMER_ABSTIME) == 0 || old != NULL)
        fail("only points in time can be set");
    files[fd].flags = flags;
    files[fd].at = new->it_value.tv_sec *SECOND + new->it_value.tv_nsec;
    return set_real(fd);
}

/* A timerfd whose clock was set is readable, and reading fails once. */
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
    ssize_t result = __real_read(fd, buffer, size);
    if (fd < MOST_FILES && files[fd].is_cancelled) {
        files[fd].is_cancelled = false;
        set_real(fd);
        errno = ECANCELED;
        return -1;
    }
    return result;
}

/* The clocks change at multiples of half a period. Sets all timerfds anew. */
static void change_clocks(int64_t at)
{
    for (int fd = 0; fd < MOST_FILES; fd++) {
        struct file *file = &files[fd];
        if (file->at == 0)
            continue;
        file->is_cancelled |= at == SET_AT && file->clock == CLOCK_REALTIME &&
                              (file->flags & TFD_TIMER_CANCEL_ON_SET) != 0;
        set_real(fd);
    }
}

/* Waits until `events` are ready, or until `end`. */
static int wait_until(int poller, struct epoll_event *events, int most,
                      int64_t end)
{
    int64_t left = end - passed();
    int ms = left <= 0 ? 0 : (int)((left + MS - 1) / MS);
    return __real_epoll_wait(poller, events, most, ms);
}

/* The real epoll_wait, with timerfds that go by the clocks under test. `ms`
 * counts the time awake, as the kernel does. */
int __wrap_epoll_wait(int poller, struct epoll_event *events, int most, int ms)
{
    static int64_t change = PERIOD / 2; /* the next change of the clocks */
    int64_t end = ms < 0 ? INT64_MAX : passed() + ms * MS;
    if (!is("sleeps"))
        return __real_epoll_wait(poller, events, most, ms);
    for (; change <= passed(); change += PERIOD / 2)
        change_clocks(change);
    for (;;) {
        int ready =
            wait_until(poller, events, most, end < change ? end : change);
        if (ready != 0 || passed() < change)
            return ready;
        change_clocks(change);
        ready = wait_until(poller, events, most, 0);
        if (ready == 0 && change % PERIOD == 0)
            fail("epoll_wait goes on after an hour of sleep");
        change += PERIOD / 2;
        if (ready != 0)
            return ready;
    }
}
