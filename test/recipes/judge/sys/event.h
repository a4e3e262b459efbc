/* sys/event.h - kqueue on Linux, as far as kqueue.c needs kqueue: EV_ADD and
 * EV_DELETE of one EVFILT_READ, and waits for one event. All other calls fail,
 * so a recipe that needs more cannot pass by chance. As on BSD, kevent waits to
 * the nanosecond. Names and types are FreeBSD's.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { EVFILT_READ = -1, EV_ADD = 1, EV_DELETE };

struct kevent {
    uintptr_t ident;
    short filter;
    unsigned short flags;
    unsigned fflags;
    int64_t data;
    void *udata;
};

#define EV_SET(event, ...) (*(event) = (struct kevent){__VA_ARGS__})

static int kqueue(void)
{
    return dup(0); /* to be closed */
}

static int kevent(int queue, const struct kevent *changes, int change_count,
                  struct kevent *events, int event_count,
                  const struct timespec *timeout)
{
    static struct pollfd watched = {-1, POLLIN, 0};
    if (queue > 2 && change_count == 1 && event_count == 0 &&
        changes->filter == EVFILT_READ && changes->fflags == 0 &&
        changes->flags == (watched.fd < 0 ? EV_ADD : EV_DELETE)) {
        watched.fd = changes->flags == EV_ADD ? (int)changes->ident : -1;
        return 0;
    }
    if (queue <= 2 || change_count != 0 || event_count != 1)
        return -1;
    *events = (struct kevent){.ident = (unsigned)watched.fd};
    return ppoll(&watched, 1, timeout, NULL);
}
