/* kqueue.c - kqueue on Linux, as far as test/recipes/kqueue.c needs kqueue:
 * EVFILT_READ on pipes and sockets, added and deleted. All other changes fail
 * with EINVAL, so a recipe that needs more cannot pass by chance.
 *
 * As on BSD, kevent first makes the changes. kevent returns a failed change as
 * an event with EV_ERROR, or returns -1 if there is no room for an event. Then
 * kevent waits for at most `timeout`, to the nanosecond; NULL means for ever.
 * Without room for events, kevent does not wait.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/event.h>
#include <sys/ioctl.h>

#define MOST_EVENTS 16 /* of one call */

int kqueue(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

/* Returns 0 or an errno. To add twice is no error, as on BSD. */
static int make_change(int queue, const struct kevent *change)
{
    int fd = (int)change->ident;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    int action = EPOLL_CTL_DEL;
    if (change->filter != EVFILT_READ || change->fflags != 0 ||
        change->data != 0 || change->udata != NULL ||
        (change->flags != EV_ADD && change->flags != EV_DELETE))
        return EINVAL;
    if (change->flags == EV_ADD)
        action = EPOLL_CTL_ADD;
    if (epoll_ctl(queue, action, fd, &event) == 0 || errno == EEXIST)
        return 0;
    return errno;
}

/* Makes all changes. Returns the number of failed changes, each written as an
 * event; -1 if a change failed and there is no room for an event. */
static int make_changes(int queue, const struct kevent *changes, int count,
                        struct kevent *events, int room)
{
    int failed = 0;
    for (int i = 0; i < count; i++) {
        int error = make_change(queue, &changes[i]);
        if (error == 0)
            continue;
        errno = error;
        if (failed == room)
            return -1;
        events[failed] = changes[i];
        events[failed].flags = EV_ERROR;
        events[failed++].data = error;
    }
    return failed;
}

int kevent(int queue, const struct kevent *changes, int change_count,
           struct kevent *events, int event_count,
           const struct timespec *timeout)
{
    struct pollfd any = {.fd = queue, .events = POLLIN};
    struct epoll_event ready[MOST_EVENTS];
    int failed =
        make_changes(queue, changes, change_count, events, event_count);
    if (failed != 0 || event_count == 0)
        return failed;
    if (ppoll(&any, 1, timeout, NULL) < 0)
        return -1;
    int count = epoll_wait(
        queue, ready, event_count < MOST_EVENTS ? event_count : MOST_EVENTS, 0);
    for (int i = 0; i < count; i++) {
        bool ended = ready[i].events & EPOLLHUP;
        int bytes = 0;
        ioctl(ready[i].data.fd, FIONREAD, &bytes);
        events[i] = (struct kevent){.ident = (unsigned)ready[i].data.fd,
                                    .filter = EVFILT_READ,
                                    .flags = ended ? EV_EOF : 0,
                                    .data = bytes};
    }
    return count;
}
