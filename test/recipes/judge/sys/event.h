/* sys/event.h - kqueue on Linux, as far as test/recipes/kqueue.c needs kqueue:
 * one EV_ADD of EVFILT_READ, then waits for one event. All other calls fail, so
 * a recipe that needs more cannot pass by chance. As on BSD, kevent waits to
 * the nanosecond. Names and types are FreeBSD's.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdint.h>
#include <time.h>

#define EVFILT_READ (-1)
#define EV_ADD 0x0001

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
    return 0;
}

static int kevent(int queue, const struct kevent *changes, int change_count,
                  struct kevent *events, int event_count,
                  const struct timespec *timeout)
{
    static struct pollfd watched = {-1, POLLIN, 0};
    if (queue == 0 && change_count == 1 && event_count == 0 &&
        changes->filter == EVFILT_READ && changes->flags == EV_ADD &&
        changes->fflags == 0 && changes->data == 0 && watched.fd < 0) {
        watched.fd = (int)changes->ident;
        return 0;
    }
    if (queue != 0 || change_count != 0 || event_count != 1)
        return -1;
    *events =
        (struct kevent){.ident = (unsigned)watched.fd, .filter = EVFILT_READ};
    return ppoll(&watched, 1, timeout, NULL);
}
