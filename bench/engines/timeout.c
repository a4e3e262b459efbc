/* SPDX-License-Identifier: MIT
 *
 * timeout.c - the engine "timeout.c": the library of this name by William
 * Ahern, a hierarchical timing wheel of linked lists with 64 buckets per wheel.
 * `make bench` takes the source from Debian's source package of tor. The
 * settings are those of Tor: five wheels (2^30 ticks), no intervals.
 *
 * Every timeout is absolute. The timers of a tick fire in no particular order.
 *
 * Without its source there is no engine.
 */
#define _POSIX_C_SOURCE 200809L

#include "../bench.h"

#if __has_include(<ext/timeouts/timeout.h>)

typedef struct engine engine;
typedef struct timeout node;
typedef void node_callback(engine *e, node *t);

#define SIZEOF_LONG __SIZEOF_LONG__
#define TIMEOUT_PUBLIC __attribute__((__unused__)) static
#define TIMEOUT_DISABLE_INTERVALS
#define TIMEOUT_DISABLE_RELATIVE_ACCESS
#define TIMEOUT_CB_OVERRIDE
#define WHEEL_NUM 5

struct timeout_cb_t {
    node_callback *function;
};

#include <ext/timeouts/timeout.c>

#define ENGINE_NAME "timeout.c"
#define ENGINE_WHAT "wheels of 64 linked lists, as in Tor"
#define ENGINE_VERSION BENCH_TEXT(TIMEOUT_V_REL)
#define ENGINE_HAS_MOST 1

/* A timer beyond the five wheels goes round once per 2^30 ticks. */
static size_t engine_most(bench_workload workload)
{
    switch (workload) {
    case BENCH_HOLD_NS:
    case BENCH_HOLD_TICK_1:
    case BENCH_SPARSE:
        return 0;
    default:
        return SIZE_MAX;
    }
}

struct engine {
    struct timeouts *wheels;
};

static inline void engine_init(engine *e, uint64_t tick)
{
    int error;

    (void)tick;
    e->wheels = timeouts_open(0, &error);
    if (e->wheels == NULL)
        bench_out_of_memory();
}

static inline void engine_destroy(engine *e)
{
    timeouts_close(e->wheels);
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    (void)e;
    timeout_init(t, TIMEOUT_ABS);
    t->callback.function = callback;
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    timeouts_add(e->wheels, t, deadline);
}

static inline void engine_cancel(engine *e, node *t)
{
    timeouts_del(e->wheels, t);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    timeouts_add(e->wheels, t, deadline);
}

static inline bool engine_next(engine *e, uint64_t *deadline)
{
    uint64_t wait = timeouts_timeout(e->wheels);

    *deadline = timeouts_get_curtime(e->wheels) + wait;
    return wait != UINT64_MAX;
}

static inline void engine_advance(engine *e, uint64_t now)
{
    node *t;

    timeouts_update(e->wheels, now);
    while ((t = timeouts_get(e->wheels)) != NULL)
        t->callback.function(e, t);
}

static inline size_t engine_bytes(const engine *e)
{
    return sizeof(*e->wheels);
}

#include "../workloads.h"

#endif
