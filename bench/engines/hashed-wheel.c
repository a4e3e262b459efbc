/* SPDX-License-Identifier: MIT
 *
 * hashed-wheel.c - the engine "hashed-wheel": 512 linked lists. Each timer
 * counts the turns of the wheel that are left, as in Netty. The clock visits
 * every bucket on its way, and a loop on this engine wakes at every tick.
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
    uint64_t rounds; /* turns of the wheel still to wait */
    node_callback *callback;
};

#define LIST_BUCKETS 512u

struct engine {
    ring buckets[LIST_BUCKETS];
    ring overdue; /* started with a deadline that had passed */
    uint64_t now;
    size_t count;
};

#define ENGINE_NAME "hashed-wheel"
#define ENGINE_WHAT "512 linked lists, as in Netty"
#define ENGINE_HAS_MOST 1

/* Every tick is visited: sparse and the recordings have billions. Where the
 * clock passes many ticks, a million timers would take minutes. */
static size_t engine_most(bench_workload workload)
{
    switch (workload) {
    case BENCH_HOLD_NS:
    case BENCH_SPARSE:
    case BENCH_TRACE:
        return 0;
    case BENCH_RESTART:
    case BENCH_KEEPALIVE:
    case BENCH_CANCEL:
    case BENCH_POSTPONE:
        return SIZE_MAX;
    default:
        return 10000;
    }
}

static inline void engine_init(engine *e, uint64_t tick)
{
    size_t i;

    (void)tick;
    for (i = 0; i < LIST_BUCKETS; i++)
        ring_init(&e->buckets[i]);
    ring_init(&e->overdue);
    e->now = 0;
    e->count = 0;
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

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    engine_cancel(e, t);
    e->count++;
    if (deadline <= e->now) {
        t->rounds = 0;
        ring_append(&e->overdue, &t->link);
    } else {
        t->rounds = (deadline - e->now - 1) / LIST_BUCKETS;
        ring_append(&e->buckets[deadline % LIST_BUCKETS], &t->link);
    }
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    engine_start(e, t, deadline);
}

static inline bool engine_next(engine *e, uint64_t *deadline)
{
    *deadline = e->now + ring_is_empty(&e->overdue);
    return e->count > 0;
}

/* Fires the due timers of a bucket and counts a turn for the others. Timers
 * that a callback starts stand behind the last one, and are not visited. */
static inline void list_visit(engine *e, ring *bucket)
{
    ring *last = bucket->previous, *link, *next;

    for (link = bucket->next; link != bucket; link = next) {
        node *t = (node *)(void *)link;

        next = link == last ? bucket : link->next;
        if (t->rounds > 0) {
            t->rounds--;
        } else {
            engine_cancel(e, t);
            t->callback(e, t);
        }
    }
}

static inline void engine_advance(engine *e, uint64_t now)
{
    if (!ring_is_empty(&e->overdue))
        list_visit(e, &e->overdue);
    while (e->now < now) {
        if (e->count == 0) {
            e->now = now;
            return;
        }
        e->now++;
        list_visit(e, &e->buckets[e->now % LIST_BUCKETS]);
    }
}

static inline size_t engine_bytes(const engine *e)
{
    return sizeof(*e);
}

#include "../workloads.h"
