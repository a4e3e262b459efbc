/* SPDX-License-Identifier: MIT
 *
 * tree.c - the engine "tree": a red-black tree whose nodes are the timers,
 * as in nginx. The tree is <bsd/sys/tree.h> of libbsd. The address decides the
 * order of timers with one deadline.
 *
 * Without libbsd-dev there is no engine.
 */
#define _POSIX_C_SOURCE 200809L

#include "../bench.h"

#if __has_include(<bsd/sys/tree.h>)

#include <bsd/sys/tree.h>

typedef struct engine engine;
typedef struct node node;
typedef void node_callback(engine *e, node *t);

struct node {
    RB_ENTRY(node) link;
    uint64_t deadline;
    node_callback *callback;
    bool pending;
};

typedef RB_HEAD(tree, node) tree;

struct engine {
    tree timers;
};

#define ENGINE_NAME "tree"
#define ENGINE_WHAT "red-black tree of libbsd, as in nginx"

static inline int compare(const node *a, const node *b)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;

    if (a->deadline != b->deadline)
        return a->deadline < b->deadline ? -1 : 1;
    return (first > second) - (first < second);
}

#define TREE_FUNCTION static inline __attribute__((unused))

RB_GENERATE_INTERNAL(tree, node, link, compare, TREE_FUNCTION)

static inline void engine_init(engine *e, uint64_t tick)
{
    (void)tick;
    RB_INIT(&e->timers);
}

static inline void engine_destroy(engine *e)
{
    RB_INIT(&e->timers);
}

static inline void node_init(engine *e, node *t, node_callback *callback)
{
    (void)e;
    t->pending = false;
    t->callback = callback;
}

static inline void engine_cancel(engine *e, node *t)
{
    if (!t->pending)
        return;
    RB_REMOVE(tree, &e->timers, t);
    t->pending = false;
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    engine_cancel(e, t);
    t->deadline = deadline;
    t->pending = true;
    RB_INSERT(tree, &e->timers, t);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    engine_start(e, t, deadline);
}

static inline bool engine_next(engine *e, uint64_t *deadline)
{
    node *t = RB_MIN(tree, &e->timers);

    if (t == NULL)
        return false;
    *deadline = t->deadline;
    return true;
}

static inline void engine_advance(engine *e, uint64_t now)
{
    node *t;

    while ((t = RB_MIN(tree, &e->timers)) != NULL && t->deadline <= now) {
        engine_cancel(e, t);
        t->callback(e, t);
    }
}

static inline size_t engine_bytes(const engine *e)
{
    return sizeof(*e);
}

#include "../workloads.h"

#endif
