/* SPDX-License-Identifier: MIT
 *
 * timingwheel.c - the engine "timingwheel.h": this library. The files beside it
 * that include this one have another wheel_size.
 */
#define _POSIX_C_SOURCE 200809L

#include "../bench.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

typedef timingwheel engine;
typedef tw_timer node;

#ifndef WHEEL_SIZE
#define WHEEL_SIZE 0 /* the default, 256 */
#define ENGINE_NAME "timingwheel.h"
#define ENGINE_WHAT "this library"
#endif
#define ENGINE_VERSION           \
    BENCH_TEXT(TW_VERSION_MAJOR) \
    "." BENCH_TEXT(TW_VERSION_MINOR) "." BENCH_TEXT(TW_VERSION_PATCH)
#define ENGINE_HAS_WAIT 1

static inline void engine_init(engine *e, uint64_t tick)
{
    tw_config config = {0};

    config.tick = tick;
    config.wheel_size = WHEEL_SIZE;
    if (tw_init(e, &config) != TW_OK)
        bench_out_of_memory();
}

static inline void engine_destroy(engine *e)
{
    tw_destroy(e);
}

static inline void node_init(engine *e, node *t, tw_callback *callback)
{
    (void)e;
    tw_timer_init(t, callback);
}

static inline void engine_start(engine *e, node *t, uint64_t deadline)
{
    if (tw_start(e, t, deadline) != TW_OK)
        bench_out_of_memory();
}

static inline void engine_cancel(engine *e, node *t)
{
    tw_cancel(e, t);
}

static inline void engine_postpone(engine *e, node *t, uint64_t deadline)
{
    if (tw_postpone(e, t, deadline) != TW_OK)
        bench_out_of_memory();
}

static inline bool engine_next(engine *e, uint64_t *deadline)
{
    return tw_next_deadline(e, deadline);
}

static inline void engine_advance(engine *e, uint64_t now)
{
    tw_advance_clock(e, now);
}

static inline uint64_t engine_wait(engine *e, uint64_t now, uint64_t longest)
{
    return tw_wait(e, now, longest);
}

static inline size_t engine_bytes(const engine *e)
{
    tw_stats stats;

    tw_get_stats(e, &stats);
    return stats.bytes + sizeof(*e);
}

#include "../workloads.h"
