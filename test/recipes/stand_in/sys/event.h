/* sys/event.h - the header of the kqueue in ../kqueue.c. Names and types are
 * FreeBSD's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef STAND_IN_SYS_EVENT_H
#define STAND_IN_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

#define EVFILT_READ (-1)

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ERROR 0x4000 /* returned: `data` is an errno */
#define EV_EOF 0x8000   /* returned: the writer has closed */

struct kevent {
    uintptr_t ident;
    short filter;
    unsigned short flags;
    unsigned fflags;
    int64_t data;
    void *udata;
};

#define EV_SET(event, ident_, filter_, flags_, fflags_, data_, udata_) \
    (*(event) = (struct kevent){.ident = (ident_),                     \
                                .filter = (filter_),                   \
                                .flags = (flags_),                     \
                                .fflags = (fflags_),                   \
                                .data = (data_),                       \
                                .udata = (udata_)})

int kqueue(void);
int kevent(int queue, const struct kevent *changes, int change_count,
           struct kevent *events, int event_count,
           const struct timespec *timeout);

#endif
