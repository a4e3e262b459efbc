/* SPDX-License-Identifier: MIT
 *
 * libev.c - the engine "libev": a loop of libev and its ev_timer, by public
 * functions, in virtual time (loop.c). A tick is a millisecond. libev counts in
 * seconds, as double, and fires a timer after its time: half a tick less keeps
 * the time between two ticks.
 *
 * The figures include a whole turn of the loop per wake-up (ev_run), as in a
 * program, but no system call, because loop.c answers instead.
 *
 * needs ev.h libev -lev
 * from apt-get install libev-dev
 */
#define _POSIX_C_SOURCE 200809L

#include "../bench.h"

#if __has_include(<ev.h>)

#include <ev.h>

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    ev_timer timer;
    node_callback *callback;
};

struct engine {
    struct ev_loop *loop;
};

#define ENGINE_NAME "libev"
#define ENGINE_WHAT "ev_timer: a 4-ary array heap"
#define ENGINE_VERSION \
    BENCH_TEXT(EV_VERSION_MAJOR) "." BENCH_TEXT(EV_VERSION_MINOR)
#define ENGINE_NOTE "its figures include a whole turn of its loop per wake-up"
#define ENGINE_HAS_MOST 1
#define ENGINE_HAS_LOOP 1
#define ENGINE_HAS_SLEEP 1

/* A clock in milliseconds ends before sparse does. A turn of the loop costs so
 * much that the many turns of calls-hour and calls-idle take minutes, as do
 * those of calls-minute with a million timers. */
static size_t engine_most(bench_workload workload)
{
    switch (workload) {
    case BENCH_SPARSE:
    case BENCH_CALLS_HOUR:
    case BENCH_CALLS_IDLE:
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
    e->loop = ev_loop_new(EVFLAG_AUTO);
    if (e->loop == NULL)
        bench_out_of_memory();
    ev_set_userdata(e->loop, e);
}

static inline void engine_destroy(engine *e)
{
    ev_loop_destroy(e->loop);
}

static void libev_fired(struct ev_loop *loop, ev_timer *timer, int events)
{
    node *t = (node *)timer;

    (void)events;
    t->callback(ev_userdata(loop), t);
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    (void)e;
    ev_timer_init(&t->timer, libev_fired, 0., 0.);
    t->callback = callback;
}

static inline double libev_after(uint64_t deadline)
{
    return ((double)deadline - (double)*bench_loop_clock - 0.5) * 1e-3;
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    ev_timer_set(&t->timer, libev_after(deadline), 0.);
    ev_timer_start(e->loop, &t->timer);
}

static inline void engine_cancel(engine *e, node *t)
{
    ev_timer_stop(e->loop, &t->timer);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    t->timer.repeat = libev_after(deadline);
    ev_timer_again(e->loop, &t->timer);
    t->timer.repeat = 0.; /* the timer fires once */
}

static inline void engine_advance(engine *e, uint64_t now)
{
    (void)now;
    ev_run(e->loop, EVRUN_NOWAIT);
}

static inline bool engine_sleep(engine *e)
{
    return ev_run(e->loop, EVRUN_ONCE);
}

#include "../workloads.h"

#endif
