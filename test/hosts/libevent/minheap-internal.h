/* minheap-internal.h - libevent 2.1's timers on timingwheel.h, in place of the
 * heap. event.c calls these functions to add an event, to take out an event,
 * and to see the earliest event. README.md says how it works, and what differs.
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

/* The contents of ev_room, a field that libevent.patch adds to every event. */
struct min_heap_room_ {
    tw_timer timer;
    struct min_heap *heap;
};

#define MIN_HEAP_ROOM_ sizeof(((struct event *)0)->ev_room)
typedef char min_heap_room_fits_[sizeof(struct min_heap_room_) <= MIN_HEAP_ROOM_
                                     ? 1
                                     : -1];

/* The timers of one event_base. Only the loop knows the time. The loop takes
 * out the earliest event when the event's time has come, and asks for the next.
 * If the wheel advanced earlier, events added meanwhile would be overdue. So
 * the heap has an event of its own, the alarm, and shows the alarm as the
 * earliest. When the loop takes out the alarm, the alarm's time has come, and
 * the events of this microsecond follow. */
typedef struct min_heap {
    struct event **all; /* every pending event, in no order */
    unsigned all_n;
    unsigned all_room;
    timingwheel wheel;
    struct event *due;  /* due, and not taken by the loop yet; or NULL */
    struct event alarm; /* unassigned while its base is NULL */
    struct event_base *base;
    struct event **p; /* an empty array: tests and event_base_assert_ok_ */
    unsigned n;       /* check that the array is a heap */
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

/* Returns microseconds, from 0 to UINT64_MAX. */
static inline uint64_t min_heap_deadline_of_(const struct event *e)
{
    uint64_t seconds = (uint64_t)e->ev_timeout.tv_sec;
    if (e->ev_timeout.tv_sec < 0)
        return 0;
    if (seconds >= UINT64_MAX / MIN_HEAP_SECOND_)
        return UINT64_MAX;
    return seconds * MIN_HEAP_SECOND_ + (uint64_t)e->ev_timeout.tv_usec;
}

/* Makes the next event due at `deadline` the due event. `deadline` has come. */
static inline void min_heap_poll_(min_heap_t *s, uint64_t deadline)
{
    s->due = min_heap_event_of_(tw_poll(&s->wheel, deadline));
}

/* libevent's debug mode refuses an event without event_assign. */
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

/* The loop takes out the alarm and then activates the alarm. The loop does not
 * activate an event marked as finalizing, so the alarm calls nothing, and
 * EVLOOP_ONCE continues until an event is called. */
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

/* ------------------------------------- functions for libevent and tests --- */

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

/* Returns the due event, or the alarm, or NULL without events. The alarm may be
 * early after the earliest event was taken out. */
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

/* event.c asks after adding an event, to wake a loop that sleeps. */
static inline int min_heap_elt_is_top_(const struct event *e)
{
    const min_heap_t *s = min_heap_room_of_(e)->heap;
    uint64_t deadline;
    return tw_next_deadline(&s->wheel, &deadline) &&
           min_heap_deadline_of_(e) <= deadline;
}

/* Makes room for `n` events in the array. Reserves no memory for the wheel. */
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

static inline void min_heap_start_(min_heap_t *s, struct event *e)
{
    (void)tw_start(&s->wheel, &min_heap_room_of_(e)->timer,
                   min_heap_deadline_of_(e));
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

/* event.c calls this function after changing the time of a pending event. */
static inline int min_heap_adjust_(min_heap_t *s, struct event *e)
{
    if (e->ev_timeout_pos.min_heap_idx == -1)
        return min_heap_push_(s, e);
    if (e == s->due)
        min_heap_poll_(s, tw_now(&s->wheel));
    min_heap_start_(s, e);
    return 0;
}

/* Takes out the earliest event, for any time. */
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
