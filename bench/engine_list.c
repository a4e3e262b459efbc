/* SPDX-License-Identifier: MIT
 *
 * engine_list.c - the bench's engine "list": a hashed wheel of 512 linked lists
 * of timers that count the rounds still to go, as in Netty. It has a tick: the
 * clock visits every bucket on its way, and a loop on it wakes at every tick.
 */
#define _POSIX_C_SOURCE 200809L

#include <string.h>

#include "bench.h"

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    node *next;
    node *previous;
    uint64_t rounds;       /* turns of the wheel still to wait           */
    struct bucket *bucket; /* NULL when not pending                      */
    node_callback *callback;
};

typedef struct bucket {
    node *first;
    node *last;
} bucket;

#define LIST_BUCKETS 512u

struct engine {
    bucket buckets[LIST_BUCKETS];
    bucket overdue; /* started with a deadline that had passed            */
    uint64_t now;
    size_t count;
};

#define ENGINE_TABLE bench_list
#define ENGINE_NAME "list"
#define ENGINE_WHAT "hashed wheel of 512 linked lists, as in Netty"
#define ENGINE_HAS_TICK 1

static inline void engine_init(engine *e)
{
    memset(e, 0, sizeof(*e));
}

static inline void engine_destroy(engine *e)
{
    memset(e, 0, sizeof(*e));
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    (void)e;
    t->bucket = NULL;
    t->callback = callback;
}

static inline void engine_cancel(engine *e, node *t)
{
    bucket *b = t->bucket;

    if (b == NULL)
        return;
    if (t->next != NULL)
        t->next->previous = t->previous;
    else
        b->last = t->previous;
    if (t->previous != NULL)
        t->previous->next = t->next;
    else
        b->first = t->next;
    t->bucket = NULL;
    e->count--;
}

static inline void list_append(bucket *b, node *t)
{
    t->bucket = b;
    t->next = NULL;
    t->previous = b->last;
    if (b->last != NULL)
        b->last->next = t;
    else
        b->first = t;
    b->last = t;
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    engine_cancel(e, t);
    e->count++;
    if (deadline <= e->now) {
        t->rounds = 0;
        list_append(&e->overdue, t);
    } else {
        t->rounds = (deadline - e->now - 1) / LIST_BUCKETS;
        list_append(&e->buckets[deadline % LIST_BUCKETS], t);
    }
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    engine_start(e, t, deadline);
}

static inline bool engine_next(engine *e, uint64_t *deadline)
{
    *deadline = e->now + (e->overdue.first == NULL);
    return e->count > 0;
}

/* Fires what is due in a bucket and counts a round for the others; those that
 * are started meanwhile stand behind the last one, and are not visited. */
static inline void list_visit(engine *e, bucket *b)
{
    node *last = b->last, *t, *next;

    for (t = b->first; t != NULL; t = next) {
        next = t == last ? NULL : t->next;
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
    if (e->overdue.first != NULL)
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

#include "workloads.h"
