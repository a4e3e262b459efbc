/* SPDX-License-Identifier: MIT
 *
 * radix-heap.c - the engine "radix-heap": a monotone radix heap, which has one
 * linked list per power of two, as Seastar's timer_set.
 *
 * The engine remembers `last`, the time of the last expiry. A timer is in the
 * list of the highest bit in which its deadline differs from `last`. So all
 * timers of list k are due before all timers of list k + 1. List 64 holds the
 * timers that are due already.
 *
 * Start and cancel touch one list, and are O(1). When time `now` comes, all
 * lists below the highest bit of `now ^ last` are due in full. The list of this
 * bit is dealt out again: each timer fires, or moves to a lower list. A timer
 * moves down at most once per bit, 16 times for a delay of a minute in
 * milliseconds.
 *
 * `next` is a lower bound of the earliest deadline. A start lowers the bound. A
 * cancel leaves the bound alone, so the loop may wake once for nothing. After
 * an expiry, the engine searches the first list in use for the earliest
 * deadline.
 */
#define _POSIX_C_SOURCE 200809L

#include <string.h>

#include "../bench.h"
#include "ring.h"

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    ring link;
    uint64_t deadline;
    node_callback *callback;
};

#define RADIX_DUE 64 /* the list of timers that are due already */

struct engine {
    ring lists[RADIX_DUE + 1];
    uint64_t used; /* bit k: list k may have timers; not for RADIX_DUE */
    uint64_t last; /* time of the last expiry */
    uint64_t next; /* no timer of lists 0 to 63 is due before */
    size_t count;
};

#define ENGINE_NAME "radix-heap"
#define ENGINE_WHAT "a list per power of two, as in Seastar"

static inline void engine_init(engine *e, uint64_t tick)
{
    size_t i;

    (void)tick;
    memset(e, 0, sizeof(*e));
    for (i = 0; i <= RADIX_DUE; i++)
        ring_init(&e->lists[i]);
    e->next = UINT64_MAX;
}

static inline void engine_destroy(engine *e)
{
    memset(e, 0, sizeof(*e));
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    (void)e;
    t->link.next = NULL;
    t->callback = callback;
}

static inline void engine_cancel(engine *e, node *t)
{
    if (t->link.next == NULL)
        return;
    ring_remove(&t->link);
    e->count--;
}

/* Returns the highest bit in which a later time differs from `last`. */
static inline unsigned radix_bit(const engine *e, uint64_t time)
{
    return 63u - (unsigned)__builtin_clzll(time ^ e->last);
}

/* Puts a timer that is in no list into its list. */
static inline void radix_put(engine *e, node *t)
{
    unsigned bit;

    if (t->deadline <= e->last) {
        ring_append(&e->lists[RADIX_DUE], &t->link);
        return;
    }
    bit = radix_bit(e, t->deadline);
    ring_append(&e->lists[bit], &t->link);
    e->used |= UINT64_C(1) << bit;
    if (t->deadline < e->next)
        e->next = t->deadline;
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    engine_cancel(e, t);
    e->count++;
    t->deadline = deadline;
    radix_put(e, t);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    engine_start(e, t, deadline);
}

static inline bool engine_next(engine *e, uint64_t *deadline)
{
    *deadline = ring_is_empty(&e->lists[RADIX_DUE]) ? e->next : e->last;
    return e->count > 0;
}

/* Moves the timers that are due at `now` to the list of due timers. */
static void radix_expire(engine *e, uint64_t now)
{
    ring *due = &e->lists[RADIX_DUE], list;
    unsigned bit = radix_bit(e, now);
    uint64_t below = e->used & ((UINT64_C(1) << bit) - 1);

    for (; below != 0; below &= below - 1)
        ring_append_all(due, &e->lists[__builtin_ctzll(below)]);
    ring_init(&list);
    ring_append_all(&list, &e->lists[bit]);
    e->used &= ~((UINT64_C(2) << bit) - 1);
    e->last = now;
    e->next = UINT64_MAX;
    while (!ring_is_empty(&list)) {
        ring *link = list.next;

        ring_remove(link);
        radix_put(e, (node *)(void *)link);
    }
}

/* Finds the earliest deadline in the first list that has timers. */
static void radix_search(engine *e)
{
    while (e->next == UINT64_MAX && e->used != 0) {
        unsigned bit = (unsigned)__builtin_ctzll(e->used);
        ring *head = &e->lists[bit], *link;

        for (link = head->next; link != head; link = link->next) {
            const node *t = (const node *)(const void *)link;

            if (t->deadline < e->next)
                e->next = t->deadline;
        }
        if (ring_is_empty(head))
            e->used &= e->used - 1;
    }
}

/* Fires the timers that are due when the call begins. Timers that a callback
 * starts for `now` wait in the same list behind the last one. */
static inline void engine_advance(engine *e, uint64_t now)
{
    ring *due = &e->lists[RADIX_DUE], firing;

    if (now > e->last && now >= e->next) {
        radix_expire(e, now);
        radix_search(e);
    }
    ring_init(&firing);
    ring_append_all(&firing, due);
    while (!ring_is_empty(&firing)) {
        node *t = (node *)(void *)firing.next;

        engine_cancel(e, t);
        t->callback(e, t);
    }
}

static inline size_t engine_bytes(const engine *e)
{
    return sizeof(*e);
}

#include "../workloads.h"
