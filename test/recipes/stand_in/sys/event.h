/* sys/event.h - the header of the kqueue in ../kqueue.c. Names and types are
 * FreeBSD's.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <time.h>

#define EVFILT_READ (-1)
#define EV_ADD 0x0001
#define EV_DELETE 0x0002

struct kevent {
    uintptr_t ident;
    short filter;
    unsigned short flags;
    unsigned fflags;
    int64_t data;
    void *udata;
};

#define EV_SET(event, ...) (*(event) = (struct kevent){__VA_ARGS__})

int kqueue(void);
int kevent(int queue, const struct kevent *changes, int change_count,
           struct kevent *events, int event_count,
           const struct timespec *timeout);
