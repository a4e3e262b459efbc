/* minheap-internal.h - the timers of libevent 2.1 on timingwheel.h, in place of
 * its heap: what event.c calls to add a timeout, take it out and see which is
 * the earliest. README.md says how it fits, and what differs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef MINHEAP_INTERNAL_H_INCLUDED_
#define MINHEAP_INTERNAL_H_INCLUDED_

#include <string.h>

#include "event2/event-config.h"
#include "evconfig-private.h"
#include "event2/event.h"
#include "event2/event_struct.h"
#include "event2/util.h"
#include "log-internal.h"
#include "mm-internal.h"
#include "util-internal.h"

#define TW_STATIC
#define TW_MALLOC(size, context) ((void)(context), mm_malloc(size))
#define TW_FREE(pointer, context) ((void)(context), mm_free(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

#define MIN_HEAP_SECOND_ UINT64_C(1000000) /* the wheel counts microseconds */

/* What lies in ev_room, which every event has been given for it. */
struct min_heap_room_ {
    tw_timer timer;
    struct min_heap *heap;
};

#define MIN_HEAP_ROOM_ sizeof(((struct event *)0)->ev_room)
typedef char min_heap_room_fits_
    [sizeof(struct min_heap_room_) <= MIN_HEAP_ROOM_ ? 1 : -1];

/* The timers of one event_base. Only the loop knows the time, and it tells it
 * by what it does: it takes out the earliest event when its time has come, and
 * asks for the next. The wheel must not be advanced before, or what is added
 * meanwhile would be overdue. So until then an event of the heap's own, the
 * alarm, is shown as the earliest. When the loop takes that out, its time is
 * here, and the events of that microsecond follow. */
typedef struct min_heap {
    struct event **all; /* every event that is in, in no order             */
    unsigned all_n;
    unsigned all_room;
    timingwheel wheel;
    struct event *due;  /* out of the wheel, for its time is here, but not */
                        /* yet taken by the loop; or NULL                  */
    struct event alarm; /* not assigned yet while its base is NULL         */
    struct event_base *base; /* that of the events                         */
    struct event **p;   /* the array of a heap, always empty: tests and    */
    unsigned n;         /* event_base_assert_ok_ look whether it is one    */
} min_heap_t;

/* ------------------------------------------------------------ the parts --- */

static inline struct min_heap_room_ *min_heap_room_of_(const struct event *e)
{
    return (struct min_heap_room_ *)(void *)e->ev_room;
}

static inline struct event *min_heap_event_of_(tw_timer *timer)
{
    if (timer == NULL)
        return NULL;
    return (struct event *)(void *)((char *)timer -
                                    offsetof(struct event, ev_room));
}

/* Microseconds; what is beyond them at either end is at that end. */
static inline uint64_t min_heap_deadline_of_(const struct event *e)
{
    uint64_t seconds = (uint64_t)e->ev_timeout.tv_sec;
    if (e->ev_timeout.tv_sec < 0)
        return 0;
    if (seconds >= UINT64_MAX / MIN_HEAP_SECOND_)
        return UINT64_MAX;
    return seconds * MIN_HEAP_SECOND_ + (uint64_t)e->ev_timeout.tv_usec;
}

/* The next event that is due at `deadline`, which has come. */
static inline void min_heap_poll_(min_heap_t *s, uint64_t deadline)
{
    s->due = min_heap_event_of_(tw_poll(&s->wheel, deadline));
}

/* event_assign is for libevent's debug mode, which knows every event. */
static inline void min_heap_set_alarm_(min_heap_t *s, uint64_t deadline)
{
    struct event *alarm = &s->alarm;
    if (alarm->ev_base == NULL)
        event_assign(alarm, s->base, -1, 0, NULL, NULL);
    alarm->ev_evcallback.evcb_flags =
        EVLIST_INIT | EVLIST_INTERNAL | EVLIST_TIMEOUT;
    alarm->ev_timeout.tv_sec = (time_t)(deadline / MIN_HEAP_SECOND_);
    alarm->ev_timeout.tv_usec = (suseconds_t)(deadline % MIN_HEAP_SECOND_);
}

/* The loop takes the alarm out and then activates it, which it does not do to
 * an event that is being finalized: so nothing is called, and EVLOOP_ONCE goes
 * on until something is. */
static inline void min_heap_ring_(min_heap_t *s)
{
    s->alarm.ev_evcallback.evcb_flags |= EVLIST_FINALIZING;
    min_heap_poll_(s, min_heap_deadline_of_(&s->alarm));
}

static inline void min_heap_enter_(min_heap_t *s, struct event *e)
{
    e->ev_timeout_pos.min_heap_idx = (int)s->all_n;
    s->all[s->all_n++] = e;
}

static inline void min_heap_leave_(min_heap_t *s, struct event *e)
{
    struct event *last = s->all[--s->all_n];
    last->ev_timeout_pos.min_heap_idx = e->ev_timeout_pos.min_heap_idx;
    s->all[last->ev_timeout_pos.min_heap_idx] = last;
    e->ev_timeout_pos.min_heap_idx = -1;
}

/* ----------------------------------------- what libevent and tests call --- */

static inline void min_heap_ctor_(min_heap_t *s)
{
    memset(s, 0, sizeof(*s));
    tw_init(&s->wheel, NULL);
}

static inline void min_heap_dtor_(min_heap_t *s)
{
    if (s->alarm.ev_base != NULL) {
        s->alarm.ev_evcallback.evcb_flags = EVLIST_INIT;
        event_debug_unassign(&s->alarm);
    }
    tw_destroy(&s->wheel);
    if (s->all != NULL)
        mm_free(s->all);
}

static inline void min_heap_elem_init_(struct event *e)
{
    e->ev_timeout_pos.min_heap_idx = -1;
}

static inline int min_heap_empty_(min_heap_t *s)
{
    return s->all_n == 0;
}

static inline unsigned min_heap_size_(min_heap_t *s)
{
    return s->all_n;
}

/* The earliest event, or the alarm that stands for it; NULL if there is none.
 * The alarm may be early, after the earliest event was taken out. */
static inline struct event *min_heap_top_(min_heap_t *s)
{
    uint64_t deadline;
    if (s->due != NULL)
        return s->due;
    if (!tw_next_deadline(&s->wheel, &deadline))
        return NULL;
    min_heap_set_alarm_(s, deadline);
    return &s->alarm;
}

/* Asked of an event that was just added, to wake a loop that sleeps. */
static inline int min_heap_elt_is_top_(const struct event *e)
{
    const min_heap_t *s = min_heap_room_of_(e)->heap;
    uint64_t deadline;
    return tw_next_deadline(&s->wheel, &deadline) &&
           min_heap_deadline_of_(e) <= deadline;
}

/* Room for `n` events in the array. The memory of the wheel is not reserved:
 * see min_heap_push_. */
static inline int min_heap_reserve_(min_heap_t *s, unsigned n)
{
    struct event **all;
    unsigned room = s->all_room != 0 ? 2 * s->all_room : 8;
    if (n <= s->all_room)
        return 0;
    if (room < n)
        room = n;
    all = (struct event **)mm_realloc(s->all, room * sizeof(*all));
    if (all == NULL)
        return -1;
    s->all = all;
    s->all_room = room;
    return 0;
}

/* libevent does not look at the answer, and would lose the event. */
static inline void min_heap_start_(min_heap_t *s, struct event *e)
{
    if (tw_start(&s->wheel, &min_heap_room_of_(e)->timer,
                 min_heap_deadline_of_(e)) != TW_OK)
        event_errx(1, "no memory for a timeout");
}

static inline int min_heap_push_(min_heap_t *s, struct event *e)
{
    struct min_heap_room_ *room = min_heap_room_of_(e);
    if (s->all_n == INT32_MAX || min_heap_reserve_(s, s->all_n + 1) != 0)
        return -1;
    tw_timer_init(&room->timer, NULL);
    room->heap = s;
    s->base = e->ev_base;
    min_heap_start_(s, e);
    min_heap_enter_(s, e);
    return 0;
}

static inline int min_heap_erase_(min_heap_t *s, struct event *e)
{
    if (e == &s->alarm) {
        min_heap_ring_(s);
        return 0;
    }
    if (e->ev_timeout_pos.min_heap_idx == -1)
        return -1;
    if (e == s->due)
        min_heap_poll_(s, tw_now(&s->wheel));
    else
        tw_cancel(&s->wheel, &min_heap_room_of_(e)->timer);
    min_heap_leave_(s, e);
    return 0;
}

/* The event has another time than it had when it was added. */
static inline int min_heap_adjust_(min_heap_t *s, struct event *e)
{
    if (e->ev_timeout_pos.min_heap_idx == -1)
        return min_heap_push_(s, e);
    if (e == s->due)
        min_heap_poll_(s, tw_now(&s->wheel));
    min_heap_start_(s, e);
    return 0;
}

/* The earliest event is taken out, whatever the time. */
static inline struct event *min_heap_pop_(min_heap_t *s)
{
    struct event *e;
    uint64_t deadline;
    while (s->due == NULL && tw_next_deadline(&s->wheel, &deadline))
        min_heap_poll_(s, deadline);
    e = s->due;
    if (e != NULL)
        min_heap_erase_(s, e);
    return e;
}

#endif /* MINHEAP_INTERNAL_H_INCLUDED_ */
