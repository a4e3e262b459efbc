/* SPDX-License-Identifier: MIT
 *
 * flat-wheel.c - the engine "flat-wheel": 65,536 lists, one per tick, as a
 * server with ticks of 1 ms would have it. They take 1 MB.
 *
 * A bit per list says that the list may have timers; 64 bits have a bit one
 * level up, so the next list in use is found in a few steps. A bit that is
 * found to be wrong is cleared. A timer that is due after 65,536 ticks or more
 * waits in one list, which is dealt out at each half turn of the wheel.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
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

#define FLAT_LISTS 65536u
#define FLAT_NONE FLAT_LISTS

struct engine {
    ring *lists;
    uint64_t used[FLAT_LISTS / 64];       /* bit: the list may have timers */
    uint64_t words[FLAT_LISTS / 64 / 64]; /* bit: a word of `used` is not 0 */
    uint64_t top;                         /* bit: a word of `words` is not 0 */
    ring far;
    uint64_t far_next; /* no timer of `far` is due before */
    ring overdue;      /* started with a deadline that had passed */
    uint64_t now;
    size_t count;
};

#define ENGINE_NAME "flat-wheel"
#define ENGINE_WHAT "65,536 lists with a bitmap"
#define ENGINE_HAS_MOST 1

/* A clock in nanoseconds turns the wheel in 66 us. A thousand engines need a
 * gigabyte. */
static size_t engine_most(bench_workload workload)
{
    switch (workload) {
    case BENCH_HOLD_NS:
    case BENCH_HOLD_TICK_1:
    case BENCH_SPARSE:
    case BENCH_LOOPS:
        return 0;
    default:
        return SIZE_MAX;
    }
}

static inline void engine_init(engine *e, uint64_t tick)
{
    size_t i;

    (void)tick;
    memset(e, 0, sizeof(*e));
    e->lists = bench_alloc(FLAT_LISTS * sizeof(*e->lists));
    for (i = 0; i < FLAT_LISTS; i++)
        ring_init(&e->lists[i]);
    ring_init(&e->far);
    ring_init(&e->overdue);
    e->far_next = UINT64_MAX;
}

static inline void engine_destroy(engine *e)
{
    free(e->lists);
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

/* Puts a timer that is in no list into its list. */
static inline void flat_put(engine *e, node *t)
{
    size_t i = t->deadline % FLAT_LISTS;

    if (t->deadline <= e->now) {
        ring_append(&e->overdue, &t->link);
    } else if (t->deadline - e->now < FLAT_LISTS) {
        ring_append(&e->lists[i], &t->link);
        e->used[i / 64] |= UINT64_C(1) << i % 64;
        e->words[i / 64 / 64] |= UINT64_C(1) << i / 64 % 64;
        e->top |= UINT64_C(1) << i / 64 / 64;
    } else {
        ring_append(&e->far, &t->link);
        if (t->deadline < e->far_next)
            e->far_next = t->deadline;
    }
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    engine_cancel(e, t);
    e->count++;
    t->deadline = deadline;
    flat_put(e, t);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    engine_start(e, t, deadline);
}

/* Returns the first bit from `from` on in a bitmap of `count` words, or the
 * number of all its bits. */
static inline size_t flat_bit(const uint64_t *bits, size_t count, size_t from)
{
    size_t word = from / 64;
    uint64_t left;

    if (word >= count)
        return 64 * count;
    left = bits[word] >> from % 64;
    return left != 0 ? from + (size_t)__builtin_ctzll(left) : 64 * count;
}

/* Returns the first list from `from` on whose bit is set, or FLAT_NONE. Clears
 * the bits of words that are 0 on its way. */
static inline size_t flat_marked(engine *e, size_t from)
{
    size_t i = flat_bit(e->used, FLAT_LISTS / 64, from), word = from / 64 + 1;

    while (i == FLAT_NONE && word < FLAT_LISTS / 64) {
        size_t found = flat_bit(e->words, FLAT_LISTS / 64 / 64, word);

        if (found == FLAT_LISTS / 64) { /* none in this word of words */
            word = 64 * flat_bit(&e->top, 1, word / 64 + 1);
            continue;
        }
        word = found;
        i = flat_bit(e->used, FLAT_LISTS / 64, 64 * word);
        if (i == FLAT_NONE)
            e->words[word / 64] &= ~(UINT64_C(1) << word % 64);
        if (e->words[word / 64] == 0)
            e->top &= ~(UINT64_C(1) << word / 64);
    }
    return i;
}

/* Returns the first list from `from` on that has timers, or FLAT_NONE. */
static inline size_t flat_used(engine *e, size_t from)
{
    size_t i;

    while ((i = flat_marked(e, from)) != FLAT_NONE &&
           ring_is_empty(&e->lists[i])) {
        e->used[i / 64] &= ~(UINT64_C(1) << i % 64);
        from = i;
    }
    return i;
}

/* Returns when the next timer of the wheel is due, or UINT64_MAX. */
static inline uint64_t flat_next(engine *e)
{
    size_t from = (e->now + 1) % FLAT_LISTS, i = flat_used(e, from);

    if (i == FLAT_NONE && from > 0)
        i = flat_used(e, 0);
    return i == FLAT_NONE ? UINT64_MAX : e->now + 1 + (i - from) % FLAT_LISTS;
}

static inline bool engine_next(engine *e, uint64_t *deadline)
{
    uint64_t next;

    if (!ring_is_empty(&e->overdue)) {
        *deadline = e->now;
        return true;
    }
    next = flat_next(e);
    *deadline = next < e->far_next ? next : e->far_next;
    return e->count > 0;
}

/* Fires the timers of a list. Those that a callback adds wait for the next. */
static inline void flat_fire(engine *e, ring *list)
{
    ring firing;

    ring_init(&firing);
    ring_append_all(&firing, list);
    while (!ring_is_empty(&firing)) {
        node *t = (node *)(void *)firing.next;

        BENCH_PREFETCH(firing.next->next);
        engine_cancel(e, t);
        t->callback(e, t);
    }
}

/* Places the timers of `far` once more. */
static void flat_deal(engine *e)
{
    ring list;

    ring_init(&list);
    ring_append_all(&list, &e->far);
    e->far_next = UINT64_MAX;
    while (!ring_is_empty(&list)) {
        ring *link = list.next;

        BENCH_PREFETCH(link->next->next);
        ring_remove(link);
        flat_put(e, (node *)(void *)link);
    }
}

static inline void engine_advance(engine *e, uint64_t now)
{
    flat_fire(e, &e->overdue);
    while (e->now < now) {
        uint64_t half = (e->now | (FLAT_LISTS / 2 - 1)) + 1;
        uint64_t stop = now < half ? now : half, next = flat_next(e);

        e->now = next < stop ? next : stop;
        if (e->now == half && e->far_next != UINT64_MAX)
            flat_deal(e);
        if (next <= stop)
            flat_fire(e, &e->lists[next % FLAT_LISTS]);
        flat_fire(e, &e->overdue);
    }
}

static inline size_t engine_bytes(const engine *e)
{
    return sizeof(*e) + FLAT_LISTS * sizeof(*e->lists);
}

#include "../workloads.h"
