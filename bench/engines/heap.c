/* SPDX-License-Identifier: MIT
 *
 * heap.c - the engine "heap": a heap in an array with four children per node.
 *
 * An entry is a deadline and a pointer, so a comparison touches no timer. The
 * timer holds the index of its entry, for cancelling. The array begins
 * HEAP_ARITY - 1 entries after the start of a cache line, so siblings share a
 * line (four entries of 16 bytes fill a line). Sifting moves a hole and writes
 * each entry once. Finding the smallest child takes no branch. On the way down
 * from the top, the engine prefetches grandchildren, and the timer that fires
 * next.
 *
 * To postpone a pending timer to a later time only writes the deadline into the
 * timer. The entry moves when it is at the top and its old deadline has come.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "../bench.h"

#define ENGINE_NAME "heap"
#define ENGINE_WHAT "4-ary array heap, postponed by one store"
#define HEAP_ARITY 4

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    size_t index; /* of the entry; HEAP_NONE: not pending */
    node_callback *callback;
    uint64_t deadline; /* that of the entry, or later */
};

typedef struct entry {
    uint64_t deadline;
    node *timer;
} entry;

struct engine {
    entry *heap; /* heap[0] is the earliest; siblings are aligned */
    size_t count;
    size_t capacity;
    void *memory; /* the allocation that contains the heap */
};

#define HEAP_NONE SIZE_MAX
#define HEAP_FIRST_CAPACITY 64

static inline void engine_init(engine *e, uint64_t tick)
{
    (void)tick;
    memset(e, 0, sizeof(*e));
}

static inline void engine_destroy(engine *e)
{
    free(e->memory);
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
    size_t bytes = (capacity + 2 * HEAP_ARITY) * sizeof(entry);
    entry *memory = bench_alloc(bytes);

    memset(memory, 0xff, bytes); /* deadlines of UINT64_MAX */
    if (e->count > 0)
        memcpy(memory + HEAP_ARITY - 1, e->heap, e->count * sizeof(entry));
    free(e->memory);
    e->memory = memory;
    e->heap = memory + HEAP_ARITY - 1;
    e->capacity = capacity;
}

static inline void heap_put(entry *heap, size_t index, entry value)
{
    heap[index] = value;
    value.timer->index = index;
}

/* Moves the hole at `index` up to the place of `value`, and fills the hole. */
static inline void heap_sift_up(entry *heap, size_t index, entry value)
{
    while (index > 0) {
        size_t parent = (index - 1) / HEAP_ARITY;

        if (heap[parent].deadline <= value.deadline)
            break;
        heap_put(heap, index, heap[parent]);
        index = parent;
    }
    heap_put(heap, index, value);
}

/* Returns the index of the smaller of two entries. */
static inline size_t heap_smaller(const entry *heap, size_t a, size_t b)
{
    size_t second = (size_t)0 - (size_t)(heap[b].deadline < heap[a].deadline);

    return a ^ ((a ^ b) & second);
}

/* Returns the index of the smallest of the siblings at `first`. Behind the last
 * entry deadlines are UINT64_MAX. */
static inline size_t heap_smallest(const entry *heap, size_t first)
{
    return heap_smaller(heap, heap_smaller(heap, first, first + 1),
                        heap_smaller(heap, first + 2, first + 3));
}

/* Prefetches the children of the siblings at `first`. */
static inline void heap_prefetch(const entry *heap, size_t first)
{
    const char *line = (const char *)&heap[first * HEAP_ARITY + 1];
    size_t i;

    for (i = 0; i < HEAP_ARITY * HEAP_ARITY * sizeof(entry); i += 64)
        BENCH_PREFETCH(line + i);
}

/* Moves the hole at `index` down to the place of `value`, and fills the hole.
 * `count` is the number of entries. `far` prefetches the way down, which pays
 * from the top only. */
static inline void heap_sift_down(entry *heap, size_t count, size_t index,
                                  entry value, bool far)
{
    size_t first;

    while ((first = index * HEAP_ARITY + 1) < count) {
        size_t child;

        if (far)
            heap_prefetch(heap, first);
        child = heap_smallest(heap, first);
        if (heap[child].deadline >= value.deadline)
            break;
        heap_put(heap, index, heap[child]);
        index = child;
    }
    heap_put(heap, index, value);
}

/* Puts `value` in its place, up or down from the hole at `index`. */
static inline void heap_settle(engine *e, size_t index, entry value)
{
    entry *heap = e->heap;

    if (index > 0 && heap[(index - 1) / HEAP_ARITY].deadline > value.deadline)
        heap_sift_up(heap, index, value);
    else
        heap_sift_down(heap, e->count, index, value, false);
}

static inline void engine_cancel(engine *e, node *t)
{
    size_t index = t->index;
    entry last;

    if (index == HEAP_NONE)
        return;
    t->index = HEAP_NONE;
    last = e->heap[--e->count];
    e->heap[e->count].deadline = UINT64_MAX;
    if (index != e->count)
        heap_settle(e, index, last);
}

/* Starts a timer, or moves one that is pending. */
static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    entry value;

    t->deadline = deadline;
    value.deadline = deadline;
    value.timer = t;
    if (t->index != HEAP_NONE) {
        heap_settle(e, t->index, value);
        return;
    }
    if (e->count == e->capacity)
        heap_grow(e);
    heap_sift_up(e->heap, e->count++, value);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    if (t->index != HEAP_NONE && deadline >= t->deadline) {
        t->deadline = deadline;
        return;
    }
    engine_start(e, t, deadline);
}

/* The time is too early if the first timer was postponed. */
static inline bool engine_next(engine *e, uint64_t *deadline)
{
    if (e->count == 0)
        return false;
    *deadline = e->heap[0].deadline;
    return true;
}

/* Removes the earliest timer. The first step down finds the next
 * timer to fire, and prefetches the timer during the remaining steps. */
static inline void heap_pop(engine *e)
{
    entry *heap = e->heap;
    node *t = heap[0].timer;
    size_t count = --e->count;
    entry last = heap[count];

    t->index = HEAP_NONE;
    heap[count].deadline = UINT64_MAX;
    if (count > 1) {
        size_t child = heap_smallest(heap, 1);

        if (heap[child].deadline < last.deadline) {
            BENCH_PREFETCH(heap[child].timer);
            heap_put(heap, 0, heap[child]);
            heap_sift_down(heap, count, child, last, true);
            return;
        }
    }
    if (count > 0)
        heap_put(heap, 0, last);
}

static inline void engine_advance(engine *e, uint64_t now)
{
    while (e->count > 0 && e->heap[0].deadline <= now) {
        node *t = e->heap[0].timer;

        if (t->deadline > e->heap[0].deadline) {
            entry value = {t->deadline, t};

            heap_sift_down(e->heap, e->count, 0, value, true);
            continue;
        }
        heap_pop(e);
        t->callback(e, t);
    }
}

static inline size_t engine_bytes(const engine *e)
{
    return (e->capacity + 2 * HEAP_ARITY) * sizeof(entry) + sizeof(*e);
}

#include "../workloads.h"
