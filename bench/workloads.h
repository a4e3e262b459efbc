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
 *   engine_init, engine_destroy, node_init
 *   engine_start, engine_cancel, engine_postpone
 *   engine_next                       when is the next timer due?
 *   engine_advance                    fires all timers due at a time
 *   engine_bytes                      memory held
 *
 * An engine may define:
 *
 *   ENGINE_HAS_TICK   the engine visits every tick: not for sparse
 *   ENGINE_HAS_RANGE  far deadlines are slow: not for sparse
 *   ENGINE_HAS_LIMIT  engine_advance_limit exists: for limit
 *   ENGINE_HAS_MOVED  engine_moved returns how many times a timer moved without
 *                     firing
 *   ENGINE_HAS_CLOCK  the engine reads a clock: for startstop and callback-*.
 *                     Instead of engine_next, _advance and _bytes there are
 *                     engine_pending (is a timer pending, and for when?) and
 *                     engine_turn (one turn of the loop that does not wait).
 *   ENGINE_HAS_INSIDE engine_inside runs the work of callback-* in a callback
 *
 * All engines see the same timers, calls and random numbers. Each timer has
 * random numbers of its own, and the checksum is a sum. So the result does not
 * depend on the order in which the timers of one tick fire.
 */
#include <stdlib.h>
#include <string.h>

/* A user's object with a timer in it: one cache line, whatever the engine. */
typedef struct user {
    node timer;
    uint64_t random; /* this timer's own random numbers, and its key       */
} user;

typedef union item {
    user user;
    char line[64];
} item;

/* The run that is going on. A process runs one workload once. */
static struct {
    engine engine;
    item *items;
    uint32_t *order; /* the items in random memory order, or NULL        */
    size_t n;
    uint64_t random; /* the program's random numbers                     */
    uint64_t now;    /* virtual time                                     */
    uint64_t fired;
    uint64_t wakeups;
    uint64_t checksum;
    double began; /* process time at the beginning of the phase       */
} run;

/* ------------------------------------------------------------- building --- */

static inline item *item_of(node *t)
{
    return (item *)(void *)((char *)t - offsetof(user, timer));
}

static inline uint64_t random_delay(uint64_t random)
{
    return 1 + bench_below(random, BENCH_LONGEST);
}

/* Builds the input: n items with that callback, touched once. */
static void build(const bench_job *job, bench_result *result)
{
    memset(result, 0, sizeof(*result));
    memset(&run, 0, sizeof(run));
    run.n = job->n;
    run.random = job->seed;
    run.items = bench_alloc((run.n + 1) * sizeof(item));
    memset(run.items, 0, (run.n + 1) * sizeof(item));
    engine_init(&run.engine);
}

static void build_items(uint64_t seed, void (*callback)(engine *, node *))
{
    size_t i;

    for (i = 0; i < run.n + 1; i++) {
        node_init(&run.engine, &run.items[i].user.timer, callback);
        run.items[i].user.random = bench_key(seed, i);
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

/* What a timer costs in memory, asked for while all n are pending. */
static void note_bytes(bench_result *result)
{
#ifndef ENGINE_HAS_CLOCK /* a library does not tell */
    result->bytes = engine_bytes(&run.engine);
    result->timer_size = sizeof(node);
#else
    (void)result;
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

/* A product, so that two timers which change places change the sum. */
static inline void note_fired(const item *it)
{
    run.fired++;
    run.checksum += run.now * it->user.random;
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
        engine_start(&run.engine, &run.items[i].user.timer,
                     run.now + random_delay(bench_random(&run.random)));
    phase_end(result, "fill", run.n, false);
    note_bytes(result);
}

/* ----------------------------------------------------------- operations --- */

/* How many packets come in a tick, in restart and postpone. */
static uint64_t packets_per_tick(void)
{
    return run.n / 600 > 64 ? run.n / 600 : 64;
}

/* Operations, one for a packet, and what happens when a tick has passed. */
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
    return &run.items[bench_below(random, run.n)].user.timer;
}

/* restart: cancel a random timer and start it for another deadline. One random
 * number makes both: its upper half the timer, its lower half the deadline. */
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

/* postpone: push a random timer back to the longest delay from now. */
static void postpone_for(uint64_t operations)
{
    uint64_t i;

    for (i = 0; i < operations; i++)
        engine_postpone(&run.engine, random_timer(bench_random(&run.random)),
                        run.now + BENCH_LONGEST);
}

/* startstop: start and stop one more timer while n are pending. */
static void startstop_for(uint64_t operations)
{
    node *t = &run.items[run.n].user.timer;
    uint64_t i;

    for (i = 0; i < operations; i++) {
        engine_start(&run.engine, t,
                     run.now + random_delay(bench_random(&run.random)));
        engine_cancel(&run.engine, t);
    }
}

/* ------------------------------------------------------- the event loop --- */

#ifndef ENGINE_HAS_CLOCK

#ifndef ENGINE_HAS_MOVED

static inline uint64_t engine_moved(const engine *e)
{
    (void)e;
    return 0;
}

#endif

/* Sleeps until the next timer is due and lets it fire; false if none is. */
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

/* Packets keep the loop awake: the clock moves by one tick. It counts as a
 * wake-up if timers were the reason for it. */
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
    engine_start(e, t, run.now + random_delay(bench_next(&it->user.random)));
}

static void on_put_off(engine *e, node *t)
{
    note_fired(item_of(t));
    engine_start(e, t, run.now + BENCH_LONGEST);
}

#endif

/* ----------------------------------------------- while the clock stands --- */

/* The workloads that engines with a clock of their own can do as well: nobody
 * tells the engine that time passes, and nothing fires. In the end it is seen
 * which timers are pending for when: engines in virtual time let them fire. */
#ifdef ENGINE_HAS_CLOCK

static void see_pending(void)
{
    size_t i;

    for (i = 0; i < run.n + 1; i++)
        if (engine_pending(&run.engine, &run.items[i].user.timer, &run.now))
            note_fired(&run.items[i]);
}

/* All deadlines are an hour away; a timer that fires now makes one too many. */
static void take_turn(bench_result *result)
{
    run.began = bench_process_time();
    engine_turn(&run.engine);
    phase_end(result, "turn", 1, false);
}

#else

static void see_pending(void)
{
    run.now = 0;
    while (sleep_to_next())
        continue;
}

static void take_turn(bench_result *result)
{
    (void)result;
}

#endif

#ifndef ENGINE_HAS_INSIDE

static void engine_inside(engine *e, void (*work)(void *), void *context)
{
    (void)e;
    work(context);
}

#endif

typedef struct callback_work {
    const char *name;
    void (*operate)(uint64_t operations);
    uint64_t operations;
    bench_result *result;
} callback_work;

static void do_callback_work(void *context)
{
    const callback_work *work = context;

    fill(work->result);
    phase_begin();
    work->operate(work->operations);
    phase_end(work->result, work->name, work->operations, true);
    see_pending();
}

static void stand_still(const bench_job *job, bench_result *result,
                        const char *name, void (*operate)(uint64_t))
{
    callback_work work;

    build(job, result);
    build_items(job->seed, on_once);
    work.name = name;
    work.operate = operate;
    work.operations = job->n * job->rounds;
    work.result = result;
    engine_inside(&run.engine, do_callback_work, &work);
    take_turn(result);
    if (result->fired != 0 || run.fired != run.n)
        result->failure = "a timer fired, or was lost, while the clock stood";
    finish(result);
}

static void workload_startstop(const bench_job *job, bench_result *result)
{
    stand_still(job, result, "startstop", startstop_for);
}

/* Deadlines go on with the packets, as in restart and postpone. */
static void pass_unseen(void)
{
    run.now++;
}

static void callback_restart_for(uint64_t operations)
{
    pass(operations, restart_for, pass_unseen);
}

static void workload_callback_restart(const bench_job *job,
                                      bench_result *result)
{
    stand_still(job, result, "restart", callback_restart_for);
}

static void callback_postpone_for(uint64_t operations)
{
    pass(operations, postpone_for, pass_unseen);
}

static void workload_callback_postpone(const bench_job *job,
                                       bench_result *result)
{
    stand_still(job, result, "postpone", callback_postpone_for);
}

/* ------------------------------------------------------ in virtual time --- */

#ifndef ENGINE_HAS_CLOCK

/* hold: every timer that fires is armed again; the loop sleeps. */
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

/* What the floors consist of: an item that is only touched. */
typedef struct floor_item floor_item;

struct floor_item {
    void (*call)(floor_item *);
    uint64_t deadline;
    char payload[64 - sizeof(uint64_t) - sizeof(void (*)(void))];
};

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

/* The items in random memory order, for the workloads that ask for it. */
static void build_order(void)
{
    run.order = bench_alloc(run.n * sizeof(*run.order));
    shuffle(run.order, run.n, &run.random);
}

/* The floor of expire: each item is written once, then read and called. */
static void floor_call(floor_item *it)
{
    run.checksum += it->deadline;
}

static void floor_round(floor_item *items, bool first)
{
    const size_t ahead = 16;
    size_t i;

    for (i = 0; i < run.n; i++) {
        floor_item *it = &items[run.order[i]];

        it->deadline = run.now + random_delay(bench_random(&run.random));
        if (first)
            it->call = floor_call;
    }
    for (i = 0; i < run.n; i++) {
        floor_item *it = &items[run.order[i]];

        BENCH_PREFETCH(&items[run.order[i + ahead < run.n ? i + ahead : i]]);
        it->call(it);
    }
}

static double floor_of_expire(void)
{
    uint64_t random = run.random;
    floor_item *items = (floor_item *)(void *)run.items;
    size_t rounds = run.n < 1000000 ? 1000000 / run.n : 1;
    size_t i;
    double began;

    floor_round(items, true);
    began = bench_process_time();
    for (i = 0; i < rounds; i++)
        floor_round(items, false);
    run.random = random;
    run.checksum = 0;
    return (bench_process_time() - began) / (double)(rounds * run.n);
}

static void start_all_in_order(void)
{
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &run.items[run.order[i]].user.timer,
                     run.now + random_delay(bench_random(&run.random)));
}

static void start_all_at_once(void)
{
    uint64_t deadline = run.now + random_delay(bench_random(&run.random));
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &run.items[i].user.timer, deadline);
}

/* Starts all, lets all fire, and so on. With few timers a round is too short
 * to read the clock twice in each: the split is then taken from one in 32. */
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
        while (sleep_to_next())
            continue;
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

/* expire: start n in random memory order, sleep until all have fired. */
static void workload_expire(const bench_job *job, bench_result *result)
{
    double floor_ns;

    build(job, result);
    build_order();
    floor_ns = floor_of_expire();
    build_items(job->seed, on_once);
    rounds_of(job, result, start_all_in_order);
    result->floor_ns = floor_ns;
    finish(result);
}

/* burst: start n for the same tick, let them fire. */
static void workload_burst(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_items(job->seed, on_once);
    rounds_of(job, result, start_all_at_once);
    finish(result);
}

/* restart: while the clock moves, and what is due is armed again. */
static void workload_restart(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_items(job->seed, on_rearm);
    fill(result);
    phase_begin();
    pass(run.n * job->rounds, restart_for, move_one_tick);
    phase_end(result, "restart", run.n * job->rounds, true);
    finish(result);
}

/* The floor of postpone: a random item is read and written. */
static double floor_of_postpone(void)
{
    const uint64_t operations = 4000000;
    floor_item *items = (floor_item *)(void *)run.items;
    uint64_t random = run.random, now = BENCH_LONGEST, i;
    double began = bench_process_time();

    for (i = 0; i < operations; i++) {
        size_t which = (size_t)bench_below(bench_random(&random), run.n);

        now += i % 64 == 0;
        if (items[which].deadline <= now)
            items[which].deadline = now;
    }
    return (bench_process_time() - began) / (double)operations;
}

/* postpone: the same. */
static void workload_postpone(const bench_job *job, bench_result *result)
{
    double floor_ns;

    build(job, result);
    floor_ns = floor_of_postpone();
    build_items(job->seed, on_put_off);
    fill(result);
    phase_begin();
    pass(run.n * job->rounds, postpone_for, move_one_tick);
    phase_end(result, "postpone", run.n * job->rounds, true);
    result->floor_ns = floor_ns;
    finish(result);
}

#if !defined(ENGINE_HAS_TICK) && !defined(ENGINE_HAS_RANGE)

/* sparse: as hold, with a nanosecond as tick and delays from 1 us to 1 h, as
 * many from 1 to 2 us as from 30 to 60 minutes. The powers are worked out in
 * advance at SPARSE_STEPS places; between two of them the line is straight. */
#define SPARSE_STEPS 1024u
#define SPARSE_SHORTEST 1e3
#define SPARSE_LONGEST 3.6e12

static uint64_t sparse_delays[SPARSE_STEPS + 1];

/* x to the power of 1 / 1024: ten square roots, by Newton, to need no libm. */
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
    engine_start(e, t, run.now + sparse_delay(bench_next(&it->user.random)));
}

static void workload_sparse(const bench_job *job, bench_result *result)
{
    size_t i;

    build(job, result);
    build_items(job->seed, on_sparse);
    build_sparse_delays();
    phase_begin();
    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &run.items[i].user.timer,
                     sparse_delay(bench_random(&run.random)));
    phase_end(result, "fill", run.n, false);
    note_bytes(result);
    phase_begin();
    hold_for(run.n * job->rounds);
    phase_end(result, "sparse", run.fired, true);
    finish(result);
}

#else
#define workload_sparse NULL
#endif

/* Lets fire what is due up to a moment, each at its time; then it is `moment`
 * because something else woke the loop. */
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

static void replay(const bench_trace *trace)
{
    uint64_t base = run.now;
    size_t i;

    for (i = 0; i < trace->count; i++) {
        const bench_call *call = &trace->calls[i];
        node *t = &run.items[call->timer].user.timer;

        move_to(base + call->moment);
        if (call->due == BENCH_CANCEL)
            engine_cancel(&run.engine, t);
        else
            engine_postpone(&run.engine, t, base + call->due);
    }
}

/* trace: the calls of a recorded program, at their moments; a round ends when
 * all has fired that is left. The reader of the trace said what must fire. A
 * start may be one again, of a timer that is pending: hence postpone, which
 * of a timer that is not, or to an earlier time, is start in every engine. */
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
        while (sleep_to_next())
            continue;
    }
    phase_end(result, "trace", trace->count * job->rounds, true);
    if (result->fired != trace->fires * job->rounds || run.checksum != expected)
        result->failure = "the replay fired something else than the trace says";
    finish(result);
}

#include "calls.h"
#include "objects.h"

#else
#define CALLS_TABLE NULL
#define workload_hold NULL
#define workload_expire NULL
#define workload_restart NULL
#define workload_postpone NULL
#define workload_sparse NULL
#define workload_burst NULL
#define workload_trace NULL
#define workload_limit NULL
#define workload_object_restart NULL
#define workload_object_cancel NULL
#endif

/* ---------------------------------------------------------------- table --- */

static bench_engine bench_this_engine = {
    ENGINE_NAME,
    ENGINE_WHAT,
    {
        workload_hold,
        workload_expire,
        workload_restart,
        workload_postpone,
        workload_startstop,
        workload_sparse,
        workload_burst,
        workload_trace,
        workload_limit,
        workload_callback_restart,
        workload_callback_postpone,
        workload_object_restart,
        workload_object_cancel,
    },
    CALLS_TABLE,
    NULL,
};

/* Runs before main. */
static void __attribute__((constructor)) bench_register_this_engine(void)
{
    bench_register(&bench_this_engine);
}
