/* SPDX-License-Identifier: MIT
 *
 * heap8.c - the engine "heap8": a heap with eight children per node, whose
 * deadlines and timers are in two arrays.
 *
 * The deadlines of siblings fill one cache line, so a step down reads one line
 * and has half as many levels as in heap.c to take. Deadlines behind the last
 * entry are UINT64_MAX, so the smallest of eight is found without a branch. To
 * postpone a timer is to write its deadline, as in heap.c.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "../bench.h"

#define ENGINE_NAME "heap8"
#define ENGINE_WHAT "8-ary heap, deadlines and timers in two arrays"
#define HEAP_ARITY 8
#define HEAP_NONE SIZE_MAX
#define HEAP_FIRST_CAPACITY 64

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    size_t index; /* of the entry; HEAP_NONE: not pending */
    node_callback *callback;
    uint64_t deadline; /* that of the entry, or later */
};

struct engine {
    uint64_t *keys; /* keys[0] is the earliest; siblings are aligned */
    node **timers;
    size_t count;
    size_t capacity;
};

static inline void engine_init(engine *e, uint64_t tick)
{
    (void)tick;
    memset(e, 0, sizeof(*e));
}

/* Each array begins HEAP_ARITY - 1 entries after its allocation. */
static void heap_free(engine *e)
{
    if (e->capacity > 0) {
        free(e->keys - (HEAP_ARITY - 1));
        free(e->timers - (HEAP_ARITY - 1));
    }
}

static inline void engine_destroy(engine *e)
{
    heap_free(e);
    memset(e, 0, sizeof(*e));
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    (void)e;
    t->index = HEAP_NONE;
    t->callback = callback;
}

/* Makes room for twice as many timers. */
static void heap_grow(engine *e)
{
    size_t capacity = e->capacity ? 2 * e->capacity : HEAP_FIRST_CAPACITY;
    size_t entries = capacity + 2 * HEAP_ARITY;
    uint64_t *keys = bench_alloc(entries * sizeof(*keys));
    node **timers = bench_alloc(entries * sizeof(*timers));

    memset(keys, 0xff, entries * sizeof(*keys)); /* UINT64_MAX */
    keys += HEAP_ARITY - 1;
    timers += HEAP_ARITY - 1;
    if (e->count > 0) {
        memcpy(keys, e->keys, e->count * sizeof(*keys));
        memcpy(timers, e->timers, e->count * sizeof(*timers));
    }
    heap_free(e);
    e->keys = keys;
    e->timers = timers;
    e->capacity = capacity;
}

static inline void heap_put(engine *e, size_t index, uint64_t key, node *t)
{
    e->keys[index] = key;
    e->timers[index] = t;
    t->index = index;
}

/* Moves the hole at `index` up to the place of `key`, and fills the hole. */
static inline void heap_sift_up(engine *e, size_t index, uint64_t key, node *t)
{
    while (index > 0) {
        size_t parent = (index - 1) / HEAP_ARITY;

        if (e->keys[parent] <= key)
            break;
        heap_put(e, index, e->keys[parent], e->timers[parent]);
        index = parent;
    }
    heap_put(e, index, key, t);
}

/* Returns the index of the smallest of the siblings at `first`. */
static inline size_t heap_smallest(const uint64_t *keys, size_t first)
{
    uint64_t least = keys[first];
    size_t best = first, i;

    for (i = first + 1; i < first + HEAP_ARITY; i++) {
        size_t smaller = (size_t)0 - (size_t)(keys[i] < least);

        best ^= (best ^ i) & smaller;
        least ^= (least ^ keys[i]) & smaller;
    }
    return best;
}

/* Moves the hole at `index` down to the place of `key`, and fills the hole. */
static inline void heap_sift_down(engine *e, size_t index, uint64_t key,
                                  node *t)
{
    const uint64_t *keys = e->keys;
    size_t first;

    while ((first = index * HEAP_ARITY + 1) < e->count) {
        size_t child;

        BENCH_PREFETCH(&keys[first * HEAP_ARITY + 1]);
        child = heap_smallest(keys, first);
        if (keys[child] >= key)
            break;
        BENCH_PREFETCH(&e->timers[child * HEAP_ARITY + 1]);
        heap_put(e, index, keys[child], e->timers[child]);
        index = child;
    }
    heap_put(e, index, key, t);
}

static inline void heap_settle(engine *e, size_t index, uint64_t key, node *t)
{
    if (index > 0 && e->keys[(index - 1) / HEAP_ARITY] > key)
        heap_sift_up(e, index, key, t);
    else
        heap_sift_down(e, index, key, t);
}

/* Takes a pending timer out. The last entry fills the hole. */
static inline void engine_cancel(engine *e, node *t)
{
    size_t index = t->index, last = e->count - 1;
    uint64_t key;

    if (index == HEAP_NONE)
        return;
    t->index = HEAP_NONE;
    e->count = last;
    key = e->keys[last];
    e->keys[last] = UINT64_MAX;
    if (index != last)
        heap_settle(e, index, key, e->timers[last]);
}

/* Starts a timer, or moves one that is pending. */
static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    t->deadline = deadline;
    if (t->index != HEAP_NONE) {
        heap_settle(e, t->index, deadline, t);
        return;
    }
    if (e->count == e->capacity)
        heap_grow(e);
    heap_sift_up(e, e->count++, deadline, t);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    if (t->index != HEAP_NONE && deadline >= t->deadline)
        t->deadline = deadline;
    else
        engine_start(e, t, deadline);
}

/* The time is too early if the first timer was postponed. */
static inline bool engine_next(engine *e, uint64_t *deadline)
{
    if (e->count == 0)
        return false;
    *deadline = e->keys[0];
    return true;
}

static inline void engine_advance(engine *e, uint64_t now)
{
    while (e->count > 0 && e->keys[0] <= now) {
        node *t = e->timers[0];

        if (t->deadline > e->keys[0]) {
            heap_sift_down(e, 0, t->deadline, t);
        } else {
            engine_cancel(e, t);
            t->callback(e, t);
        }
    }
}

static inline size_t engine_bytes(const engine *e)
{
    return (e->capacity + 2 * HEAP_ARITY) *
               (sizeof(*e->keys) + sizeof(*e->timers)) +
           sizeof(*e);
}

#include "../workloads.h"
