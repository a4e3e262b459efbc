/* sys/event.h - kqueue on Linux, as far as kqueue.c needs it: one EVFILT_READ,
 * added and deleted, and waits for one event. All other calls fail. Names and
 * types are FreeBSD's. SPDX-License-Identifier: MIT */
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
#define kqueue() dup(0) /* to be closed */

static int kevent(int queue, const struct kevent *changes, int change_count,
                  struct kevent *events, int event_count,
                  const struct timespec *timeout)
{
    static struct pollfd watched = {-1, POLLIN, 0};
    if (queue <= 2 || change_count + event_count != 1)
        return -1;
    if (event_count == 1)
        return (void)events, ppoll(&watched, 1, timeout, NULL);
    watched.fd = changes->flags == EV_ADD ? (int)changes->ident : -1;
    return changes->filter == EVFILT_READ ? 0 : -1;
}
