/* SPDX-License-Identifier: MIT
 *
 * workloads.h - the workloads of the bench, written once. Every engine includes
 * this file after its own static functions. So the compiler inlines the
 * functions of each engine alike, and no table stands between a workload and
 * its engine.
 *
 * To add an engine, copy engines/tree.c, the shortest: make compiles every file
 * in engines/. An engine provides:
 *
 *   ENGINE_NAME, ENGINE_WHAT          the name, and a line of description
 *   types engine and node             all timers, and one timer
 *   engine_init                       `tick`: units of the clock per tick, for
 *                                     engines that count in ticks; a process
 *                                     may have several engines
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
 *
 * All engines see the same timers, calls and random numbers. Each timer has
 * random numbers of its own, and the checksum is a sum. So the result does not
 * depend on the order in which the timers of one tick fire. bench.py compares
 * the checksums of all engines in each cell. For a new engine, first compare
 * that of `timers NAME hold 1000` with timingwheel.h.
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
    uint64_t unit;     /* units of the clock per unit of a delay */
    uint64_t shortest; /* the shortest delay */
    uint64_t longest;  /* the longest delay */
    uint64_t packets;  /* operations between two ticks */
    uint64_t now;      /* virtual time */
    uint64_t fired;
    uint64_t wakeups;
    uint64_t checksum;
    double began; /* process time at the beginning of what is measured */
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

/* The i-th item in the order of this run. */
static inline size_t nth(size_t i)
{
    return run.order != NULL ? run.order[i] : i;
}

static inline uint64_t random_delay(uint64_t random)
{
    return run.shortest + bench_below(random, run.longest - run.shortest + 1);
}

/* Prepares a run with n items, all memory touched once. */
static void build(const bench_job *job, bench_result *result)
{
    memset(result, 0, sizeof(*result));
    memset(&run, 0, sizeof(run));
    run.n = job->n;
    run.random = job->seed;
    run.unit = job->unit;
    run.packets = job->packets;
    run.shortest = job->shortest;
    run.longest = job->longest;
    run.stride = 64;
    if (run.stride < sizeof(item))
        run.stride = sizeof(item);
    run.stride = (run.stride + 7) / 8 * 8;
    run.items = bench_alloc((run.n + 1) * run.stride);
    memset(run.items, 0, (run.n + 1) * run.stride);
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

/* ----------------------------------------------------------- measuring --- */

static void begin(void)
{
    run.fired = 0;
    run.wakeups = 0;
    run.began = bench_process_time();
}

static void end(bench_result *result, uint64_t operations)
{
    result->ns = bench_process_time() - run.began;
    result->operations = operations;
    result->fired = run.fired;
    result->wakeups = run.wakeups;
}

/* Notes the memory of an engine, while all n timers are pending. */
static void note_bytes(bench_result *result, const engine *e)
{
    result->bytes += engine_bytes(e);
    result->timer_size = sizeof(node);
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

/* Starts all n timers at random deadlines, in the order of the items. */
static void start_all(void)
{
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(nth(i))->timer,
                     run.now + random_delay(bench_random(&run.random)));
}

static void fill(bench_result *result, void (*start)(void))
{
    start();
    note_bytes(result, &run.engine);
}

/* ----------------------------------------------------------- operations --- */

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
static inline bool sleep_to_next(engine *e)
{
    uint64_t deadline;

    if (!engine_next(e, &deadline))
        return false;
    if (deadline > run.now)
        run.now = deadline;
    run.wakeups++;
    engine_advance(e, run.now);
    return true;
}

/* A turn of a loop that wakes at each tick: asks how long it may sleep, then
 * moves the clock by one tick. Counts a wake-up if a timer is due. */
static inline void turn(void)
{
    run.wakeups += engine_wait(&run.engine, run.now, run.longest) <= 1;
    engine_advance(&run.engine, ++run.now);
}

/* Runs operations, and makes a turn after as many as a tick has packets. */
static void pass(uint64_t operations, void (*operate)(uint64_t))
{
    for (; operations >= run.packets; operations -= run.packets) {
        operate(run.packets);
        turn();
    }
    operate(operations);
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
    while (sleep_to_next(&run.engine))
        continue;
}

/* ------------------------------------------------------- the workloads --- */

/* startstop: the clock stands. In the end all timers fire, for the checksum. */
static void workload_startstop(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_items(job->seed, on_once);
    fill(result, start_all);
    begin();
    startstop_for(run.n * job->rounds);
    end(result, run.n * job->rounds);
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
    begin();
    for (i = 0; i < turns; i++)
        turn();
    end(result, turns);
    if (result->fired != 0)
        result->failure = "a timer fired before its deadline";
    fire_all();
    finish(result);
}

/* hold: every timer that fires starts again; the loop sleeps. */
static void hold_for(uint64_t operations)
{
    while (run.fired < operations && sleep_to_next(&run.engine))
        continue;
}

/* All of hold: a round of firings settles the timers, then time is taken. */
static void hold(const bench_job *job, bench_result *result,
                 void (*callback)(engine *, node *), void (*start)(void),
                 void (*operate)(uint64_t))
{
    build(job, result);
    build_items(job->seed, callback);
    fill(result, start);
    operate(run.n);
    begin();
    operate(run.n * job->rounds);
    end(result, run.fired);
    finish(result);
}

static void workload_hold(const bench_job *job, bench_result *result)
{
    hold(job, result, on_rearm, start_all, hold_for);
}

static void start_all_at_once(void)
{
    uint64_t deadline = run.now + random_delay(bench_random(&run.random));
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(nth(i))->timer, deadline);
}

/* Starts all timers and lets all fire, in rounds. */
static void rounds_of(const bench_job *job, bench_result *result,
                      void (*start)(void))
{
    uint64_t i;

    build_items(job->seed, on_once);
    begin();
    for (i = 0; i < job->rounds; i++) {
        start();
        fire_all();
    }
    end(result, run.n * job->rounds);
    finish(result);
}

/* expire: starts n timers in random memory order, and lets all fire. */
static void workload_expire(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_order();
    rounds_of(job, result, start_all);
}

/* burst, burst-random: starts n timers for the same tick, in memory order or in
 * random memory order, and lets all fire. */
static void workload_burst(const bench_job *job, bench_result *result)
{
    build(job, result);
    rounds_of(job, result, start_all_at_once);
}

static void workload_burst_random(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_order();
    rounds_of(job, result, start_all_at_once);
}

/* The timers that fire for the checksum where no other does: one in 16, because
 * a hashed wheel looks at a whole list in each tick. */
static size_t for_the_checksum(void)
{
    return (run.n + 15) / 16;
}

/* restart, keepalive, requests: the clock moves, and due timers start again.
 * The delays of keepalive are all 90 s, which is one to two steps of a wheel
 * whose buckets span 2^16 ms. If no timer was due, some fire in the end.
 *
 * In requests a restart is a request that is answered, and the next one. With
 * n / 100 answers per tick a request waits 100 ticks on average, and e^-4 to
 * e^-5.4 of all requests wait longer than their timeout of 400 to 540 ticks:
 * one in 100. */
static void workload_restart(const bench_job *job, bench_result *result)
{
    size_t i;

    build(job, result);
    build_items(job->seed, on_rearm);
    fill(result, start_all);
    begin();
    pass(run.n * job->rounds, restart_for);
    end(result, run.n * job->rounds);
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
    fill(result, start_all);
    begin();
    pass(run.n * job->rounds, postpone_for);
    end(result, run.n * job->rounds);
    finish(result);
}

/* sparse: as hold, with ticks of 1 ns and delays from 1 us to 71 minutes, as
 * many in each of the 32 powers of two. */
static inline uint64_t sparse_delay(uint64_t random)
{
    uint64_t from = UINT64_C(1000) << random % 32;

    return from + (((random >> 44) * from) >> 20);
}

static void on_sparse(engine *e, node *t)
{
    item *it = item_of(t);

    note_fired(it);
    engine_start(e, t, run.now + sparse_delay(bench_next(&it->random)));
}

static void start_all_sparse(void)
{
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(i)->timer,
                     sparse_delay(bench_random(&run.random)));
}

static void workload_sparse(const bench_job *job, bench_result *result)
{
    hold(job, result, on_sparse, start_all_sparse, hold_for);
}

/* Fires the timers due up to a moment, each at its time. Then moves the clock
 * to the moment, because a call of the trace woke the loop. */
static inline void move_to(uint64_t moment)
{
    uint64_t deadline;

    while (engine_next(&run.engine, &deadline) && deadline <= moment)
        sleep_to_next(&run.engine);
    if (moment > run.now) {
        run.now = moment;
        engine_advance(&run.engine, moment);
    }
}

/* hold-ns, hold-tick-1, store: as hold, with delays that are random to the unit
 * of the clock: to a nanosecond in a millisecond, or in store to a millisecond
 * in a second. An engine may round deadlines up to whole milliseconds, or to
 * seconds; the others fire at the exact time. To see the same timers in all
 * engines, a timer counts, and starts again, at the end of the millisecond, or
 * second, in which it fires. */
static inline uint64_t end_of_unit(void)
{
    /* Divisions by constants are products. */
    if (run.unit == BENCH_MS_PER_S)
        return (run.now + BENCH_MS_PER_S - 1) / BENCH_MS_PER_S * BENCH_MS_PER_S;
    return (run.now + BENCH_NS_PER_MS - 1) / BENCH_NS_PER_MS * BENCH_NS_PER_MS;
}

/* The upper half of a random number selects the unit, the lower half the moment
 * in it. */
static inline uint64_t random_units(uint64_t random)
{
    return random_delay(random) * run.unit -
           bench_below(random << 32, run.unit);
}

static void on_hold_units(engine *e, node *t)
{
    item *it = item_of(t);
    uint64_t now = end_of_unit();

    run.fired++;
    run.checksum += now * it->random;
    engine_start(e, t, now + random_units(bench_next(&it->random)));
}

static void start_all_units(void)
{
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(i)->timer,
                     random_units(bench_random(&run.random)));
}

static void hold_units_for(uint64_t operations)
{
    hold_for(operations);
    move_to(end_of_unit());
}

static void workload_hold_units(const bench_job *job, bench_result *result)
{
    hold(job, result, on_hold_units, start_all_units, hold_units_for);
}

/* cold: as hold, with other work before each call, which the time leaves out.
 * The other work writes to COLD_BYTES of memory, a word of each cache line. The
 * time is that of the wall clock, and contains the reading of it. */
#define COLD_BYTES 4194304u

static void workload_cold(const bench_job *job, bench_result *result)
{
    uint64_t *memory = bench_alloc(COLD_BYTES), ns = 0;
    volatile uint64_t *other = memory; /* so that the other work is done */
    bool more = true;

    memset(memory, 0, COLD_BYTES);
    build(job, result);
    build_items(job->seed, on_rearm);
    fill(result, start_all);
    hold_for(run.n);
    begin();
    while (run.fired < BENCH_COLD_ROUND * job->rounds && more) {
        uint64_t began;
        size_t i;

        for (i = 0; i < COLD_BYTES / sizeof(*memory); i += 64 / sizeof(*memory))
            other[i] += run.fired + i;
        began = bench_wall_time();
        more = sleep_to_next(&run.engine);
        ns += bench_wall_time() - began;
    }
    end(result, run.fired);
    result->ns = (double)ns;
    free(memory);
    finish(result);
}

/* loops: as hold, with LOOP_TIMERS timers to an engine, and each engine with a
 * clock of its own. The engines take turns, and a turn ends when a timer has
 * fired. */
#define LOOP_TIMERS 20u

static void fire_one(engine *e)
{
    uint64_t fired = run.fired;

    while (run.fired == fired && sleep_to_next(e))
        continue;
}

static void loops_for(engine *engines, uint64_t *clocks, uint64_t operations)
{
    size_t i;

    while (run.fired < operations)
        for (i = 0; i < run.n / LOOP_TIMERS; i++) {
            run.now = clocks[i];
            fire_one(&engines[i]);
            clocks[i] = run.now;
        }
}

static void workload_loops(const bench_job *job, bench_result *result)
{
    size_t count = job->n / LOOP_TIMERS, i;
    engine *engines = bench_alloc(count * sizeof(*engines));
    uint64_t *clocks = calloc(count + 1, sizeof(*clocks));

    build(job, result);
    run.n = count * LOOP_TIMERS;
    for (i = 0; i < count; i++)
        engine_init(&engines[i], job->tick);
    build_items(job->seed, on_rearm);
    for (i = 0; i < run.n; i++)
        engine_start(&engines[i / LOOP_TIMERS], &item_at(i)->timer,
                     random_delay(bench_random(&run.random)));
    for (i = 0; i < count; i++)
        note_bytes(result, &engines[i]);
    loops_for(engines, clocks, run.n);
    begin();
    loops_for(engines, clocks, run.n * job->rounds);
    end(result, run.fired);
    for (i = 0; i < count; i++)
        engine_destroy(&engines[i]);
    free(engines);
    free(clocks);
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
    begin();
    for (i = 0; i < job->rounds; i++) {
        expected += run.now * trace->key_sum + trace->when_sum;
        replay(trace);
        fire_all();
    }
    end(result, trace->count * job->rounds);
    if (result->fired != trace->fires * job->rounds || run.checksum != expected)
        result->failure = "the replay fired something else than the trace says";
    finish(result);
}

/* cancel: starts n timers in a random order, and cancels all in another random
 * order. Starting does not count. Then the clock passes all deadlines, which
 * counts, because some engines leave work of a cancel to that moment. */
static void workload_cancel(const bench_job *job, bench_result *result)
{
    uint32_t *order = bench_alloc(job->n * sizeof(*order));
    uint64_t round, i;
    double ns = 0;

    build(job, result);
    build_items(job->seed, on_once);
    build_order();
    shuffle(order, run.n, &run.random);
    begin();
    for (round = 0; round < job->rounds; round++) {
        start_all();
        ns -= bench_process_time();
        for (i = 0; i < run.n; i++)
            engine_cancel(&run.engine, &item_at(order[i])->timer);
        run.now += 2 * run.longest;
        engine_advance(&run.engine, run.now);
        ns += bench_process_time();
    }
    if (run.fired > 0)
        result->failure = "a cancelled timer fired";
    run.began = bench_process_time() - ns;
    end(result, run.n * job->rounds);
    start_all();
    for (i = for_the_checksum(); i < run.n; i++)
        engine_cancel(&run.engine, &item_at(order[i])->timer);
    fire_all();
    free(order);
    finish(result);
}

/* calls-*: single calls. A call is a turn of a loop that wakes at each tick: it
 * asks how long it may sleep, then moves the clock by one tick. Both are timed
 * together, by the wall clock. A timer that fires starts again. Between two
 * calls, packets postpone random timers to the longest delay (calls-idle), so
 * hardly any timer fires, or requests are answered (calls-requests). Packets
 * are not timed.
 *
 * A run makes the same calls in CALLS_PASSES passes, and the time of a call is
 * the least of its times. So what interrupts the program now and then, such as
 * the ticks of the system, does not count as time of a call. The percentiles of
 * a run are those of all its calls; bench.py takes the median over the runs. */
#define CALLS_PASSES 2

/* Makes `count` calls. Each sample becomes the time of its call, if the call is
 * shorter; no samples: NULL. */
static void make_calls(void (*packets)(uint64_t), size_t count,
                       uint32_t *samples)
{
    size_t i;

    for (i = 0; i < count; i++) {
        uint64_t ns;

        if (packets != NULL)
            packets(run.packets);
        ns = bench_wall_time();
        turn();
        ns = bench_wall_time() - ns;
        if (samples != NULL && ns < samples[i])
            samples[i] = (uint32_t)ns;
    }
}

/* Before the calls that count the deadlines get their final distribution. */
static void workload_calls(const bench_job *job, bench_result *result)
{
    size_t total = (size_t)(BENCH_CALLS_ROUND * job->rounds), pass;
    uint32_t *samples = bench_alloc(total * sizeof(*samples));
    bool is_idle = job->workload == BENCH_CALLS_IDLE;
    void (*packets)(uint64_t) =
        is_idle ? postpone_for
                : (job->workload == BENCH_CALLS_REQUESTS ? restart_for : NULL);

    memset(samples, 0xff, total * sizeof(*samples));
    for (pass = 0; pass < CALLS_PASSES; pass++) {
        build(job, result);
        build_items(job->seed, is_idle ? on_put_off : on_rearm);
        fill(result, start_all);
        if (packets != NULL)
            make_calls(packets, (size_t)job->longest, NULL);
        else
            hold_for(run.n);
        begin();
        make_calls(packets, total, samples);
        end(result, total);
        finish(result);
    }
    bench_quantiles(samples, total, result->quantiles);
    result->calls = total;
    free(samples);
}

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

#define ENGINE_ROW(constant, name, function, ...) [BENCH_##constant] = function,

static bench_engine bench_this_engine = {
    .name = ENGINE_NAME,
    .what = ENGINE_WHAT,
    .most = engine_most,
    .workloads = {BENCH_PLAIN(ENGINE_ROW)},
};

/* Runs before main. */
static void __attribute__((constructor)) bench_register_this_engine(void)
{
    bench_this_engine.version = ENGINE_VERSION; /* a function, in some */
    bench_register(&bench_this_engine);
}
