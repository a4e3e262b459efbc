/* SPDX-License-Identifier: MIT
 *
 * libevent.c - the engine "libevent": an event base of libevent and its timer
 * events, by public functions, in virtual time (loop.c). A tick is a
 * millisecond.
 *
 * The figures include a whole turn of the loop per wake-up (event_base_loop),
 * as in a program, but no system call, because loop.c answers instead.
 *
 * needs event2/event.h libevent_core -levent_core
 * from apt-get install libevent-dev
 */
#define _POSIX_C_SOURCE 200809L

#include "../bench.h"

#if __has_include(<event2/event.h>)

#include <event2/event.h>
#include <event2/event_struct.h>

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    struct event event;
    engine *engine;
    node_callback *callback;
};

struct engine {
    struct event_base *base;
};

#define ENGINE_NAME "libevent"
#define ENGINE_WHAT "timer events: a binary array heap"
#define ENGINE_VERSION event_get_version()
#define ENGINE_NOTE "its figures include a whole turn of its loop per wake-up"
#define ENGINE_HAS_MOST 1
#define ENGINE_HAS_LOOP 1
#define ENGINE_HAS_SLEEP 1

/* A clock in milliseconds ends before sparse does. A turn of the loop costs so
 * much that the many turns of calls-hour and calls-idle take minutes. With a
 * million timers, every workload takes up to ten seconds a run. */
static size_t engine_most(bench_workload workload)
{
    switch (workload) {
    case BENCH_SPARSE:
    case BENCH_CALLS_HOUR:
    case BENCH_CALLS_IDLE:
        return 0;
    default:
        return 100000;
    }
}

static inline void engine_init(engine *e, uint64_t tick)
{
    (void)tick;
    e->base = event_base_new();
    if (e->base == NULL)
        bench_out_of_memory();
}

static inline void engine_destroy(engine *e)
{
    event_base_free(e->base);
}

static void libevent_fired(evutil_socket_t fd, short events, void *context)
{
    node *t = context;

    (void)fd;
    (void)events;
    t->callback(t->engine, t);
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    event_assign(&t->event, e->base, -1, 0, libevent_fired, t);
    t->engine = e;
    t->callback = callback;
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    uint64_t now = *bench_loop_clock, ms = deadline > now ? deadline - now : 0;
    struct timeval after;

    (void)e;
    after.tv_sec = (time_t)(ms / 1000);
    after.tv_usec = (suseconds_t)(ms % 1000 * 1000);
    if (event_add(&t->event, &after) != 0)
        bench_out_of_memory();
}

static inline void engine_cancel(engine *e, node *t)
{
    (void)e;
    event_del(&t->event);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    engine_start(e, t, deadline);
}

static inline void engine_advance(engine *e, uint64_t now)
{
    (void)now;
    event_base_loop(e->base, EVLOOP_NONBLOCK);
}

static inline bool engine_sleep(engine *e)
{
    return event_base_loop(e->base, EVLOOP_ONCE) == 0;
}

#include "../workloads.h"

#endif
