/* SPDX-License-Identifier: MIT
 *
 * workloads.h - the workloads of the bench, written once. Every engine includes
 * this file after its own static functions. So the compiler inlines the
 * functions of each engine alike, and no table stands between a workload and
 * its engine.
 *
 * An engine provides:
 *
 *   ENGINE_NAME, ENGINE_WHAT          the name, and a line of description
 *   types engine and node             all timers, and one timer
 *   engine_init                       `tick`: units of the clock per tick, for
 *                                     engines that count in ticks
 *   engine_destroy, node_init
 *   engine_start, engine_cancel, engine_postpone
 *   engine_next                       when is the next timer due?
 *   engine_advance                    fires all timers due up to a time
 *   engine_bytes                      memory held
 *
 * An engine may define:
 *
 *   ENGINE_VERSION    the version of its library, a string
 *   ENGINE_HAS_MOST   engine_most(workload) exists: the most timers that a run
 *                     can have, or that do not take minutes; 0: the engine
 *                     cannot run the workload
 *   ENGINE_HAS_WAIT   engine_wait(e, now, longest) exists: how long to sleep?
 *   ENGINE_HAS_LOOP   the engine is an event loop. Its clock is run.now (see
 *                     loop.c), and its memory is unknown: there is no
 *                     engine_bytes.
 *
 * All engines see the same timers, calls and random numbers. Each timer has
 * random numbers of its own, and the checksum is a sum. So the result does not
 * depend on the order in which the timers of one tick fire.
 */
#include <stdlib.h>
#include <string.h>

/* An object of the user with a timer. Objects are `stride` bytes apart: one
 * cache line, or more if needed. */
typedef struct item {
    node timer;
    uint64_t random; /* random numbers of this timer, and the key */
} item;

/* The current run. A process runs one workload once. */
static struct {
    engine engine;
    char *items;
    size_t stride;
    uint32_t *order; /* the items in random memory order, or NULL */
    size_t n;
    uint64_t random;   /* random numbers of the program */
    uint64_t shortest; /* ticks, the shortest delay */
    uint64_t longest;  /* ticks, the longest delay */
    uint64_t now;      /* virtual time */
    uint64_t fired;
    uint64_t wakeups;
    uint64_t checksum;
    double began; /* process time at the beginning of the phase */
} run;

/* ------------------------------------------------------------- building --- */

static inline item *item_of(node *t)
{
    return (item *)(void *)t;
}

static inline item *item_at(size_t i)
{
    return (item *)(void *)(run.items + i * run.stride);
}

static inline uint64_t random_delay(uint64_t random)
{
    return run.shortest + bench_below(random, run.longest - run.shortest + 1);
}

/* The loop of an engine reads its time from run.now. */
static inline void set_loop_clock(void)
{
#ifdef ENGINE_HAS_LOOP
    bench_loop_clock = &run.now;
#endif
}

/* Prepares a run with n items, all memory touched once. */
static void build(const bench_job *job, bench_result *result)
{
    memset(result, 0, sizeof(*result));
    memset(&run, 0, sizeof(run));
    run.n = job->n;
    run.random = job->seed;
    run.shortest = job->shortest;
    run.longest = job->longest;
    run.stride = 64;
    if (run.stride < sizeof(item))
        run.stride = sizeof(item);
    run.stride = (run.stride + 7) / 8 * 8;
    run.items = bench_alloc((run.n + 1) * run.stride);
    memset(run.items, 0, (run.n + 1) * run.stride);
    set_loop_clock();
    engine_init(&run.engine, job->tick);
}

static void build_items(uint64_t seed, void (*callback)(engine *, node *))
{
    size_t i;

    for (i = 0; i < run.n + 1; i++) {
        node_init(&run.engine, &item_at(i)->timer, callback);
        item_at(i)->random = bench_key(seed, i);
    }
}

/* --------------------------------------------------------------- phases --- */

static void phase_begin(void)
{
    run.fired = 0;
    run.wakeups = 0;
    run.began = bench_process_time();
}

static void phase_end(bench_result *result, const char *name,
                      uint64_t operations, bool counted)
{
    bench_phase *phase = &result->phases[result->phase_count++];

    phase->name = name;
    phase->operations = operations;
    phase->ns = bench_process_time() - run.began;
    phase->counted = counted;
    if (counted) {
        result->ns += phase->ns;
        result->operations += operations;
        result->fired += run.fired;
        result->wakeups += run.wakeups;
    }
}

/* Notes the memory of the engine, while all n timers are pending. */
static void note_bytes(bench_result *result)
{
#ifdef ENGINE_HAS_LOOP
    (void)result; /* the memory of a library is unknown */
#else
    result->bytes = engine_bytes(&run.engine);
    result->timer_size = sizeof(node);
#endif
}

static void finish(bench_result *result)
{
    result->checksum = run.checksum;
    engine_destroy(&run.engine);
    free(run.items);
    free(run.order);
}

/* --------------------------------------------------------------- timers --- */

/* Adds a product, so that two exchanged timers change the sum. */
static inline void note_fired(const item *it)
{
    run.fired++;
    run.checksum += run.now * it->random;
}

static void on_once(engine *e, node *t)
{
    (void)e;
    note_fired(item_of(t));
}

/* Starts all n timers at random deadlines, in memory order. */
static void fill(bench_result *result)
{
    size_t i;

    phase_begin();
    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(i)->timer,
                     run.now + random_delay(bench_random(&run.random)));
    phase_end(result, "fill", run.n, false);
    note_bytes(result);
}

/* ----------------------------------------------------------- operations --- */

/* Returns the number of packets per tick, in restart and postpone. */
static uint64_t packets_per_tick(void)
{
    return run.n / 600 > 64 ? run.n / 600 : 64;
}

/* Runs operations, one per packet, and `tick` after each tick. */
static void pass(uint64_t operations, void (*operate)(uint64_t),
                 void (*tick)(void))
{
    uint64_t per_tick = packets_per_tick();

    for (; operations >= per_tick; operations -= per_tick) {
        operate(per_tick);
        tick();
    }
    operate(operations);
}

static inline node *random_timer(uint64_t random)
{
    return &item_at(bench_below(random, run.n))->timer;
}

/* restart: cancels a random timer and starts the timer for another deadline.
 * The upper half of a random number selects the timer, the lower half the
 * deadline. */
static void restart_for(uint64_t operations)
{
    uint64_t i;

    for (i = 0; i < operations; i++) {
        uint64_t random = bench_random(&run.random);
        node *t = random_timer(random);

        engine_cancel(&run.engine, t);
        engine_start(&run.engine, t, run.now + random_delay(random << 32));
    }
}

/* postpone: postpones a random timer to the longest delay from now. */
static void postpone_for(uint64_t operations)
{
    uint64_t i;

    for (i = 0; i < operations; i++)
        engine_postpone(&run.engine, random_timer(bench_random(&run.random)),
                        run.now + run.longest);
}

/* startstop: starts and cancels one more timer while n are pending. */
static void startstop_for(uint64_t operations)
{
    node *t = &item_at(run.n)->timer;
    uint64_t i;

    for (i = 0; i < operations; i++) {
        engine_start(&run.engine, t,
                     run.now + random_delay(bench_random(&run.random)));
        engine_cancel(&run.engine, t);
    }
}

/* ------------------------------------------------------- the event loop --- */

#ifndef ENGINE_HAS_WAIT

static inline uint64_t engine_wait(engine *e, uint64_t now, uint64_t longest)
{
    uint64_t deadline;

    if (!engine_next(e, &deadline) || deadline > now + longest)
        return longest;
    return deadline > now ? deadline - now : 0;
}

#endif

/* Sleeps to the next deadline and fires the due timers. Returns false if no
 * timer is pending. */
static inline bool sleep_to_next(void)
{
    uint64_t deadline;

    if (!engine_next(&run.engine, &deadline))
        return false;
    if (deadline > run.now)
        run.now = deadline;
    run.wakeups++;
    engine_advance(&run.engine, run.now);
    return true;
}

/* Moves the clock by one tick, because packets keep the loop awake. Counts a
 * wake-up if a timer is due. */
static inline void move_one_tick(void)
{
    uint64_t deadline;

    run.now++;
    if (engine_next(&run.engine, &deadline) && deadline <= run.now)
        run.wakeups++;
    engine_advance(&run.engine, run.now);
}

static void on_rearm(engine *e, node *t)
{
    item *it = item_of(t);

    note_fired(it);
    engine_start(e, t, run.now + random_delay(bench_next(&it->random)));
}

static void on_put_off(engine *e, node *t)
{
    note_fired(item_of(t));
    engine_start(e, t, run.now + run.longest);
}

static void fire_all(void)
{
    while (sleep_to_next())
        continue;
}

/* ------------------------------------------------------- the workloads --- */

/* startstop: the clock stands. In the end all timers fire, for the checksum. */
static void workload_startstop(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_items(job->seed, on_once);
    fill(result);
    phase_begin();
    startstop_for(run.n * job->rounds);
    phase_end(result, "startstop", run.n * job->rounds, true);
    fire_all();
    if (result->fired != 0 || run.fired != run.n)
        result->failure = "a timer fired, or was lost, while the clock stood";
    finish(result);
}

/* idle: in every turn, the loop asks how long to sleep and moves the clock by
 * one tick. All timers are due after the last turn. */
static void workload_idle(const bench_job *job, bench_result *result)
{
    uint64_t turns = job->n * job->rounds, i;

    build(job, result);
    build_items(job->seed, on_once);
    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(i)->timer,
                     2 * turns + random_delay(bench_random(&run.random)));
    phase_begin();
    for (i = 0; i < turns; i++) {
        run.wakeups += engine_wait(&run.engine, run.now, run.longest) == 0;
        engine_advance(&run.engine, ++run.now);
    }
    phase_end(result, "idle", turns, true);
    if (result->fired != 0)
        result->failure = "a timer fired before its deadline";
    fire_all();
    finish(result);
}

/* hold: every timer that fires starts again; the loop sleeps. */
static void hold_for(uint64_t operations)
{
    while (run.fired < operations && sleep_to_next())
        continue;
}

static void workload_hold(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_items(job->seed, on_rearm);
    fill(result);
    phase_begin();
    hold_for(run.n);
    phase_end(result, "settle", run.fired, false);
    phase_begin();
    hold_for(run.n * job->rounds);
    phase_end(result, "hold", run.fired, true);
    finish(result);
}

static void shuffle(uint32_t *order, size_t n, uint64_t *random)
{
    size_t i;

    for (i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (i = n; i > 1; i--) {
        size_t other = (size_t)bench_below(bench_random(random), i);
        uint32_t kept = order[i - 1];

        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* Makes a random order of the items. */
static void build_order(void)
{
    run.order = bench_alloc(run.n * sizeof(*run.order));
    shuffle(run.order, run.n, &run.random);
}

static void start_all_in_order(void)
{
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(run.order[i])->timer,
                     run.now + random_delay(bench_random(&run.random)));
}

static void start_all_at_once(void)
{
    uint64_t deadline = run.now + random_delay(bench_random(&run.random));
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(i)->timer, deadline);
}

/* Starts all timers and lets all fire, in rounds. With few timers, a round is
 * too short to read the clock: then only 1 round in 32 is split into two
 * phases. */
static void rounds_of(const bench_job *job, bench_result *result,
                      void (*start_all)(void))
{
    uint64_t stride = run.n < 10000 ? 32 : 1, split = 0, starting = 0;
    uint64_t expiring = 0, t0 = 0, t1 = 0;
    double all, share;
    uint64_t i;

    phase_begin();
    for (i = 0; i < job->rounds; i++) {
        bool timed = i % stride == 0;

        if (timed)
            t0 = bench_wall_time();
        start_all();
        if (i == 0)
            note_bytes(result);
        if (timed)
            t1 = bench_wall_time();
        fire_all();
        if (timed) {
            starting += t1 - t0;
            expiring += bench_wall_time() - t1;
            split++;
        }
    }
    phase_end(result, "start", run.n * job->rounds, true);
    all = result->phases[0].ns;
    share = (double)starting / (double)(starting + expiring + (split == 0));
    result->phases[1] = result->phases[0];
    result->phases[0].ns = all * share;
    result->phases[1].ns = all - all * share;
    result->phases[1].name = "expire";
    result->phase_count = 2;
}

/* expire: starts n timers in random memory order, and lets all fire. */
static void workload_expire(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_order();
    build_items(job->seed, on_once);
    rounds_of(job, result, start_all_in_order);
    finish(result);
}

/* burst: starts n timers for the same tick, and lets all fire. */
static void workload_burst(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_items(job->seed, on_once);
    rounds_of(job, result, start_all_at_once);
    finish(result);
}

/* The timers that fire for the checksum where no other does: one in 16, because
 * a hashed wheel looks at a whole list in each tick. */
static size_t for_the_checksum(void)
{
    return (run.n + 15) / 16;
}

/* restart, keepalive: the clock moves, and due timers start again. The delays
 * of keepalive are all 90 s, which is one to two steps of a wheel whose buckets
 * span 2^16 ms. If no timer was due, some fire in the end. */
static void workload_restart(const bench_job *job, bench_result *result)
{
    size_t i;

    build(job, result);
    build_items(job->seed, on_rearm);
    fill(result);
    phase_begin();
    pass(run.n * job->rounds, restart_for, move_one_tick);
    phase_end(result, "restart", run.n * job->rounds, true);
    if (run.fired == 0) {
        for (i = for_the_checksum(); i < run.n; i++)
            engine_cancel(&run.engine, &item_at(i)->timer);
        hold_for(for_the_checksum());
    }
    finish(result);
}

/* postpone: the clock moves, and due timers start again. */
static void workload_postpone(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_items(job->seed, on_put_off);
    fill(result);
    phase_begin();
    pass(run.n * job->rounds, postpone_for, move_one_tick);
    phase_end(result, "postpone", run.n * job->rounds, true);
    finish(result);
}

/* sparse: as hold, with ticks of 1 ns and delays from 1 us to 1 h. There are as
 * many delays from 1 to 2 us as from 30 to 60 minutes. SPARSE_STEPS powers are
 * computed before, with straight lines between two powers. */
#define SPARSE_STEPS 1024u
#define SPARSE_SHORTEST 1e3
#define SPARSE_LONGEST 3.6e12

static uint64_t sparse_delays[SPARSE_STEPS + 1];

/* Returns x to the power of 1 / 1024: ten square roots, without libm. */
static double root_1024(double x)
{
    int i, k;

    for (i = 0; i < 10; i++) {
        double root = x > 1.0 ? x : 1.0;

        for (k = 0; k < 60; k++)
            root = (root + x / root) / 2.0;
        x = root;
    }
    return x;
}

static void build_sparse_delays(void)
{
    double step = root_1024(SPARSE_LONGEST / SPARSE_SHORTEST);
    double delay = SPARSE_SHORTEST;
    size_t i;

    for (i = 0; i <= SPARSE_STEPS; i++) {
        sparse_delays[i] = (uint64_t)delay;
        delay *= step;
    }
}

static inline uint64_t sparse_delay(uint64_t random)
{
    size_t step = (size_t)(random % SPARSE_STEPS);
    uint64_t from = sparse_delays[step], width = sparse_delays[step + 1] - from;

    return from + (((random >> 44) * width) >> 20);
}

static void on_sparse(engine *e, node *t)
{
    item *it = item_of(t);

    note_fired(it);
    engine_start(e, t, run.now + sparse_delay(bench_next(&it->random)));
}

static void workload_sparse(const bench_job *job, bench_result *result)
{
    size_t i;

    build(job, result);
    build_items(job->seed, on_sparse);
    build_sparse_delays();
    phase_begin();
    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(i)->timer,
                     sparse_delay(bench_random(&run.random)));
    phase_end(result, "fill", run.n, false);
    note_bytes(result);
    phase_begin();
    hold_for(run.n * job->rounds);
    phase_end(result, "sparse", run.fired, true);
    finish(result);
}

/* Fires the timers due up to a moment, each at its time. Then moves the clock
 * to the moment, because a call of the trace woke the loop. */
static inline void move_to(uint64_t moment)
{
    uint64_t deadline;

    while (engine_next(&run.engine, &deadline) && deadline <= moment)
        sleep_to_next();
    if (moment > run.now) {
        run.now = moment;
        engine_advance(&run.engine, moment);
    }
}

/* hold-ns: as hold, with a clock in nanoseconds and ticks of 1 ms. An engine
 * that counts in ticks rounds each deadline up; the others fire at the exact
 * nanosecond. To see the same timers in all engines, a timer counts, and starts
 * again, at the end of the tick in which it fires. */
static inline uint64_t end_of_tick(void)
{
    uint64_t ticks = run.now / BENCH_NS_PER_TICK;

    return (ticks + (run.now % BENCH_NS_PER_TICK > 0)) * BENCH_NS_PER_TICK;
}

/* The upper half of a random number selects the tick, the lower half the
 * nanosecond in it. */
static inline uint64_t random_delay_ns(uint64_t random)
{
    return random_delay(random) * BENCH_NS_PER_TICK -
           bench_below(random << 32, BENCH_NS_PER_TICK);
}

static void on_hold_ns(engine *e, node *t)
{
    item *it = item_of(t);
    uint64_t now = end_of_tick();

    run.fired++;
    run.checksum += now * it->random;
    engine_start(e, t, now + random_delay_ns(bench_next(&it->random)));
}

static void hold_ns_for(uint64_t operations)
{
    hold_for(operations);
    move_to(end_of_tick());
}

static void workload_hold_ns(const bench_job *job, bench_result *result)
{
    size_t i;

    build(job, result);
    build_items(job->seed, on_hold_ns);
    phase_begin();
    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(i)->timer,
                     random_delay_ns(bench_random(&run.random)));
    phase_end(result, "fill", run.n, false);
    note_bytes(result);
    phase_begin();
    hold_ns_for(run.n);
    phase_end(result, "settle", run.fired, false);
    phase_begin();
    hold_ns_for(run.n * job->rounds);
    phase_end(result, "hold-ns", run.fired, true);
    finish(result);
}

static void replay(const bench_trace *trace)
{
    uint64_t base = run.now;
    size_t i;

    for (i = 0; i < trace->count; i++) {
        const bench_call *call = &trace->calls[i];
        node *t = &item_at(call->timer)->timer;

        move_to(base + call->moment);
        if (call->due == BENCH_CALL_CANCEL)
            engine_cancel(&run.engine, t);
        else
            engine_postpone(&run.engine, t, base + call->due);
    }
}

/* trace: the calls of a recorded program, at the recorded times. A round ends
 * after the last timer has fired. trace.c computed the timers that must fire. A
 * started timer may be pending, so the replay calls postpone. For an idle
 * timer, postpone is start in every engine. */
static void workload_trace(const bench_job *job, bench_result *result)
{
    const bench_trace *trace = job->trace;
    uint64_t expected = 0, i;

    build(job, result);
    build_items(job->seed, on_once);
    phase_begin();
    for (i = 0; i < job->rounds; i++) {
        expected += run.now * trace->key_sum + trace->when_sum;
        replay(trace);
        if (i == 0)
            note_bytes(result);
        fire_all();
    }
    phase_end(result, "trace", trace->count * job->rounds, true);
    if (result->fired != trace->fires * job->rounds || run.checksum != expected)
        result->failure = "the replay fired something else than the trace says";
    finish(result);
}

/* cancel: starts n timers in a random order, and cancels all in another random
 * order. Starting does not count. Then the clock passes all deadlines, which
 * counts, because some engines leave work of a cancel to that moment. */
static void workload_cancel(const bench_job *job, bench_result *result)
{
    static const char *const names[] = {"start", "cancel", "pass"};
    double ns[3] = {0, 0, 0};
    uint32_t *order = bench_alloc(job->n * sizeof(*order));
    uint64_t operations = job->n * job->rounds, round, i;
    size_t k;

    build(job, result);
    build_items(job->seed, on_once);
    build_order();
    shuffle(order, run.n, &run.random);
    for (round = 0; round < job->rounds; round++) {
        double t[4];

        t[0] = bench_process_time();
        start_all_in_order();
        t[1] = bench_process_time();
        for (i = 0; i < run.n; i++)
            engine_cancel(&run.engine, &item_at(order[i])->timer);
        t[2] = bench_process_time();
        run.now += 2 * run.longest;
        engine_advance(&run.engine, run.now);
        t[3] = bench_process_time();
        for (k = 0; k < 3; k++)
            ns[k] += t[k + 1] - t[k];
    }
    for (k = 0; k < 3; k++) {
        bench_phase phase = {names[k], operations, ns[k], k > 0};

        result->phases[result->phase_count++] = phase;
    }
    result->operations = operations;
    result->ns = ns[1] + ns[2];
    if (run.fired > 0)
        result->failure = "a cancelled timer fired";
    start_all_in_order();
    for (i = for_the_checksum(); i < run.n; i++)
        engine_cancel(&run.engine, &item_at(order[i])->timer);
    fire_all();
    free(order);
    finish(result);
}

#include "calls.h"

/* ---------------------------------------------------------------- table --- */

#ifndef ENGINE_VERSION
#define ENGINE_VERSION ""
#endif

#ifndef ENGINE_HAS_MOST

static size_t engine_most(bench_workload workload)
{
    (void)workload;
    return SIZE_MAX;
}

#endif

static bench_engine bench_this_engine = {
    .name = ENGINE_NAME,
    .what = ENGINE_WHAT,
    .most = engine_most,
    .calls = &calls_table,
    .workloads =
        {
            [BENCH_HOLD] = workload_hold,
            [BENCH_HOLD_NS] = workload_hold_ns,
            [BENCH_EXPIRE] = workload_expire,
            [BENCH_RESTART] = workload_restart,
            [BENCH_KEEPALIVE] = workload_restart,
            [BENCH_POSTPONE] = workload_postpone,
            [BENCH_CANCEL] = workload_cancel,
            [BENCH_STARTSTOP] = workload_startstop,
            [BENCH_BURST] = workload_burst,
            [BENCH_SPARSE] = workload_sparse,
            [BENCH_IDLE] = workload_idle,
            [BENCH_TRACE] = workload_trace,
        },
};

/* Runs before main. */
static void __attribute__((constructor)) bench_register_this_engine(void)
{
    bench_this_engine.version = ENGINE_VERSION; /* a function, in some */
    bench_register(&bench_this_engine);
}
