/* kqueue.c - kqueue on Linux, as far as test/recipes/kqueue.c needs kqueue: one
 * change per call, EV_ADD or EV_DELETE of EVFILT_READ, or a wait for one event.
 * All other calls fail with EINVAL, so a recipe that needs more cannot pass by
 * chance. As on BSD, kevent waits to the nanosecond.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/event.h>

int kqueue(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

static int make_change(int queue, const struct kevent *change)
{
    struct epoll_event event = {.events = EPOLLIN};
    event.data.fd = (int)change->ident;
    if (change->filter != EVFILT_READ || change->fflags != 0 ||
        change->data != 0 || change->udata != NULL ||
        (change->flags != EV_ADD && change->flags != EV_DELETE)) {
        errno = EINVAL;
        return -1;
    }
    return epoll_ctl(queue,
                     change->flags == EV_ADD ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
                     event.data.fd, &event);
}

int kevent(int queue, const struct kevent *changes, int change_count,
           struct kevent *events, int event_count,
           const struct timespec *timeout)
{
    struct pollfd any = {.fd = queue, .events = POLLIN};
    struct epoll_event ready;
    if (change_count == 1 && event_count == 0)
        return make_change(queue, changes);
    if (change_count != 0 || event_count != 1) {
        errno = EINVAL;
        return -1;
    }
    if (ppoll(&any, 1, timeout, NULL) < 0)
        return -1;
    int count = epoll_wait(queue, &ready, 1, 0);
    if (count == 1)
        *events = (struct kevent){.ident = (unsigned)ready.data.fd,
                                  .filter = EVFILT_READ};
    return count;
}
