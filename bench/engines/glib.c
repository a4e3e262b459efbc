/* SPDX-License-Identifier: MIT
 *
 * glib.c - the engine "glib": a main context of GLib, and one GSource per
 * pending timer, by public functions. A tick is a millisecond.
 *
 * needs glib.h glib-2.0 -lglib-2.0
 * from apt-get install libglib2.0-dev
 */
#define _POSIX_C_SOURCE 200809L

#include "../bench.h"

#if __has_include(<glib.h>)

#include <glib.h>

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    GSource *source; /* NULL when not pending */
    engine *engine;
    node_callback *callback;
};

struct engine {
    GMainContext *context;
    gint64 epoch; /* microseconds; the time of deadline 0 */
};

#define ENGINE_NAME "glib"
#define ENGINE_WHAT "GSource: a list, looked through at every turn"
#define ENGINE_HAS_CLOCK 1

/* The thread that owns the context wakes nobody when it starts a timer. */
static inline void engine_init(engine *e)
{
    e->context = g_main_context_new();
    g_main_context_acquire(e->context);
    e->epoch = g_get_monotonic_time() + (gint64)BENCH_FAR_MS * 1000;
}

static inline void engine_destroy(engine *e)
{
    g_main_context_release(e->context);
    g_main_context_unref(e->context);
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    t->source = NULL;
    t->engine = e;
    t->callback = callback;
}

static gboolean glib_dispatch(GSource *source, GSourceFunc function,
                              gpointer context)
{
    (void)source;
    return function(context);
}

static GSourceFuncs glib_functions = {.dispatch = glib_dispatch};

static gboolean glib_fired(gpointer context)
{
    node *t = context;

    t->source = NULL;
    t->callback(t->engine, t);
    return G_SOURCE_REMOVE;
}

static inline gint64 glib_time(const engine *e, uint64_t deadline)
{
    return e->epoch + (gint64)deadline * 1000;
}

/* Makes a new source per start, as g_timeout_add does. To keep a source and set
 * its time takes longer: a system call per start. */
static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    t->source = g_source_new(&glib_functions, sizeof(GSource));
    g_source_set_callback(t->source, glib_fired, t, NULL);
    g_source_set_ready_time(t->source, glib_time(e, deadline));
    g_source_attach(t->source, e->context);
    g_source_unref(t->source); /* the context holds a reference */
}

static inline void engine_cancel(engine *e, node *t)
{
    (void)e;
    g_source_destroy(t->source);
    t->source = NULL;
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    g_source_set_ready_time(t->source, glib_time(e, deadline));
}

static inline bool engine_pending(engine *e, node *t, uint64_t *deadline)
{
    if (t->source == NULL)
        return false;
    *deadline =
        (uint64_t)((g_source_get_ready_time(t->source) - e->epoch) / 1000);
    return true;
}

static inline void engine_turn(engine *e)
{
    g_main_context_iteration(e->context, FALSE);
}

#include "../workloads.h"

#endif
