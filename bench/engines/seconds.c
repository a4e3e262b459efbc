/* SPDX-License-Identifier: MIT
 *
 * seconds.c - the engine "seconds": a vector of timers for each of the next
 * 1,024 seconds, as a store has it whose keys expire. It runs the workload
 * store alone. A timer fires at the end of the second in which it is due. To
 * cancel a timer is to forget its second: the entry is dropped when the second
 * comes.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "../bench.h"

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    uint64_t second; /* SECONDS_NONE: not pending */
    node_callback *callback;
};

#define SECONDS 1024u
#define SECONDS_NONE UINT64_MAX
#define SECONDS_AHEAD 8 /* the timers that are prefetched */

typedef struct vector {
    node **timers;
    size_t count;
    size_t capacity;
} vector;

struct engine {
    vector vectors[SECONDS];
    uint64_t now; /* in seconds */
    size_t count;
};

#define ENGINE_NAME "seconds"
#define ENGINE_WHAT "a vector of timers for each second"
#define ENGINE_HAS_MOST 1

static size_t engine_most(bench_workload workload)
{
    return workload == BENCH_STORE ? SIZE_MAX : 0;
}

static inline void engine_init(engine *e, uint64_t tick)
{
    (void)tick;
    memset(e, 0, sizeof(*e));
}

static inline void engine_destroy(engine *e)
{
    size_t i;

    for (i = 0; i < SECONDS; i++)
        free(e->vectors[i].timers);
    memset(e, 0, sizeof(*e));
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    (void)e;
    t->second = SECONDS_NONE;
    t->callback = callback;
}

static inline void engine_cancel(engine *e, node *t)
{
    e->count -= t->second != SECONDS_NONE;
    t->second = SECONDS_NONE;
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    uint64_t second = (deadline + BENCH_MS_PER_S - 1) / BENCH_MS_PER_S;
    vector *v = &e->vectors[second % SECONDS];

    engine_cancel(e, t);
    e->count++;
    t->second = second;
    if (v->count == v->capacity) {
        v->capacity = v->capacity ? 2 * v->capacity : 16;
        v->timers = realloc(v->timers, v->capacity * sizeof(*v->timers));
        if (v->timers == NULL)
            bench_out_of_memory();
    }
    v->timers[v->count++] = t;
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    engine_start(e, t, deadline);
}

/* Also a second whose timers were all cancelled counts. */
static inline bool engine_next(engine *e, uint64_t *deadline)
{
    uint64_t second = e->now + 1;

    if (e->count == 0)
        return false;
    while (e->vectors[second % SECONDS].count == 0)
        second++;
    *deadline = second * BENCH_MS_PER_S;
    return true;
}

static void seconds_fire(engine *e)
{
    vector *v = &e->vectors[e->now % SECONDS];
    size_t i;

    for (i = 0; i < v->count; i++) {
        node *t = v->timers[i];

        if (i + SECONDS_AHEAD < v->count)
            BENCH_PREFETCH(v->timers[i + SECONDS_AHEAD]);
        if (t->second == e->now) {
            engine_cancel(e, t);
            t->callback(e, t);
        }
    }
    v->count = 0;
}

static inline void engine_advance(engine *e, uint64_t now)
{
    while (e->now < now / BENCH_MS_PER_S) {
        e->now++;
        seconds_fire(e);
    }
}

static inline size_t engine_bytes(const engine *e)
{
    size_t bytes = sizeof(*e), i;

    for (i = 0; i < SECONDS; i++)
        bytes += e->vectors[i].capacity * sizeof(node *);
    return bytes;
}

#include "../workloads.h"
