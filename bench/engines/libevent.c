/* SPDX-License-Identifier: MIT
 *
 * libevent.c - the engine "libevent": an event base of libevent and its timer
 * events, by public functions. A tick is a millisecond.
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
    void (*work)(void *);
    void *context;
};

#define ENGINE_NAME "libevent"
#define ENGINE_WHAT "timer events: a binary array heap"
#define ENGINE_HAS_CLOCK 1
#define ENGINE_HAS_INSIDE 1

static inline void engine_init(engine *e)
{
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
    uint64_t ms = BENCH_FAR_MS + deadline;
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

static inline uint64_t libevent_microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static inline bool engine_pending(engine *e, node *t, uint64_t *deadline)
{
    struct timeval now, due = {0, 0};
    bool pending = event_pending(&t->event, EV_TIMEOUT, &due);

    event_base_gettimeofday_cached(e->base, &now);
    *deadline =
        (libevent_microseconds(&due) - libevent_microseconds(&now)) / 1000 -
        BENCH_FAR_MS;
    return pending;
}

static inline void engine_turn(engine *e)
{
    event_base_loop(e->base, EVLOOP_NONBLOCK);
}

static void libevent_inside(evutil_socket_t fd, short events, void *context)
{
    engine *e = context;

    (void)fd;
    (void)events;
    e->work(e->context);
}

/* Runs the work in a callback, as a program would. Outside of the loop,
 * libevent asks the system for the time at every start. */
static inline void engine_inside(engine *e, void (*work)(void *), void *context)
{
    e->work = work;
    e->context = context;
    if (event_base_once(e->base, -1, EV_TIMEOUT, libevent_inside, e, NULL) != 0)
        bench_out_of_memory();
    event_base_loop(e->base, EVLOOP_ONCE);
}

#include "../workloads.h"

#endif
