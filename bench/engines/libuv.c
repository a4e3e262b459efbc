/* SPDX-License-Identifier: MIT
 *
 * libuv.c - the engine "libuv": a loop of libuv and its uv_timer_t, by public
 * functions, in virtual time (loop.c). A tick is a millisecond.
 *
 * The figures include a whole turn of the loop per wake-up (uv_run), as in a
 * program, but no system call, because loop.c answers instead.
 *
 * needs uv.h libuv -luv
 * from apt-get install libuv1-dev
 */
#define _POSIX_C_SOURCE 200809L

#include "../bench.h"

#if __has_include(<uv.h>)

#include <uv.h>

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    uv_timer_t timer;
    node_callback *callback;
};

struct engine {
    uv_loop_t loop;
};

#define ENGINE_NAME "libuv"
#define ENGINE_WHAT "uv_timer_t: a binary heap of linked nodes"
#define ENGINE_VERSION uv_version_string()
#define ENGINE_HAS_MOST 1
#define ENGINE_HAS_LOOP 1

/* A clock in milliseconds ends before sparse does. A turn of the loop costs so
 * much that most of calls-* would take minutes. */
static size_t engine_most(bench_workload workload)
{
    switch (workload) {
    case BENCH_HOLD_NS:
    case BENCH_SPARSE:
    case BENCH_CALLS_IDLE:
    case BENCH_CALLS_HOUR:
    case BENCH_CALLS_10_MINUTES:
        return 0;
    case BENCH_CALLS_MINUTE:
        return 100000;
    default:
        return SIZE_MAX;
    }
}

static inline void engine_init(engine *e, uint64_t tick)
{
    (void)tick;
    if (uv_loop_init(&e->loop) != 0)
        bench_out_of_memory();
}

static void libuv_close(uv_handle_t *handle, void *context)
{
    (void)context;
    uv_close(handle, NULL);
}

static inline void engine_destroy(engine *e)
{
    uv_walk(&e->loop, libuv_close, NULL);
    uv_run(&e->loop, UV_RUN_DEFAULT);
    uv_loop_close(&e->loop);
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    uv_timer_init(&e->loop, &t->timer);
    t->callback = callback;
}

static void libuv_fired(uv_timer_t *timer)
{
    node *t = (node *)timer;

    t->callback((engine *)timer->loop, t);
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    uint64_t now = uv_now(&e->loop);

    uv_timer_start(&t->timer, libuv_fired, deadline > now ? deadline - now : 0,
                   0);
}

static inline void engine_cancel(engine *e, node *t)
{
    (void)e;
    uv_timer_stop(&t->timer);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    engine_start(e, t, deadline);
}

static inline void engine_advance(engine *e, uint64_t now)
{
    (void)now;
    uv_run(&e->loop, UV_RUN_NOWAIT);
}

/* While a timer is pending, the loop is alive. */
static inline bool engine_next(engine *e, uint64_t *deadline)
{
    *deadline = uv_now(&e->loop) + (uint64_t)uv_backend_timeout(&e->loop);
    return uv_loop_alive(&e->loop);
}

#include "../workloads.h"

#endif
