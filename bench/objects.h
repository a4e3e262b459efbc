/* SPDX-License-Identifier: MIT
 *
 * objects.h - restart and cancel with objects of a given size (--object). A
 * part of workloads.h.
 *
 * The timer is the first member of the object. An object can be as small as the
 * timer, so the object has no room for random numbers: the position of the
 * object makes them.
 */
/* -------------------------------------------- timers in small and large --- */

static struct {
    char *memory;
    size_t bytes; /* per object                                            */
    uint64_t seed;
    bool over; /* timers that fire are not started again                   */
} objects;

static inline node *object_at(size_t index)
{
    return (node *)(void *)(objects.memory + index * objects.bytes);
}

/* Returns the key of the object that contains a timer: never 0. */
static uint64_t object_key(const node *t)
{
    size_t offset = (size_t)((const char *)t - objects.memory);

    return bench_key(objects.seed, offset / objects.bytes);
}

static void on_object(engine *e, node *t)
{
    uint64_t key = object_key(t);

    run.fired++;
    run.checksum += run.now * key;
    if (!objects.over) {
        uint64_t random = key + run.now;

        engine_start(e, t, run.now + random_delay(bench_random(&random)));
    }
}

static void build_objects(const bench_job *job)
{
    size_t i;

    objects.bytes = job->object > sizeof(node) ? job->object : sizeof(node);
    objects.bytes = (objects.bytes + 7) / 8 * 8;
    objects.memory = bench_alloc(run.n * objects.bytes);
    objects.seed = job->seed;
    objects.over = false;
    memset(objects.memory, 0, run.n * objects.bytes);
    for (i = 0; i < run.n; i++)
        node_init(&run.engine, object_at(i), on_object);
}

static void start_objects(void)
{
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, object_at(i),
                     run.now + random_delay(bench_random(&run.random)));
}

/* Lets all pending timers fire, so the checksum covers all deadlines. */
static void finish_objects(bench_result *result)
{
    objects.over = true;
    while (sleep_to_next())
        continue;
    free(objects.memory);
    finish(result);
}

static void object_restart_for(uint64_t operations)
{
    uint64_t i;

    for (i = 0; i < operations; i++) {
        uint64_t random = bench_random(&run.random);
        node *t = object_at(bench_below(random, run.n));

        engine_cancel(&run.engine, t);
        engine_start(&run.engine, t, run.now + random_delay(random << 32));
    }
}

/* object-restart: the same as restart. */
static void workload_object_restart(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_objects(job);
    phase_begin();
    start_objects();
    phase_end(result, "fill", run.n, false);
    note_bytes(result);
    phase_begin();
    pass(run.n * job->rounds, object_restart_for, move_one_tick);
    phase_end(result, "restart", run.n * job->rounds, true);
    finish_objects(result);
}

static void cancel_objects(size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        engine_cancel(&run.engine, object_at(run.order[i]));
}

static void pass_cancelled(void)
{
    run.now += 2 * BENCH_LONGEST;
    engine_advance(&run.engine, run.now);
}

/* Adds a phase with a part of the process time since phase_begin. */
static void add_share(bench_result *result, const char *name, double share,
                      uint64_t operations, bool counted)
{
    bench_phase *phase = &result->phases[result->phase_count++];

    phase->name = name;
    phase->operations = operations;
    phase->ns = (bench_process_time() - run.began) * share;
    phase->counted = counted;
    if (counted)
        result->ns += phase->ns;
}

/* object-cancel: start n timers, cancel all in random order, move the clock
 * past all deadlines. Starting does not count. Moving the clock counts, because
 * some engines leave work of a cancel to that moment. */
static void workload_object_cancel(const bench_job *job, bench_result *result)
{
    uint64_t starting = 0, cancelling = 0, passing = 0, i;
    double all;

    build(job, result);
    build_order();
    build_objects(job);
    phase_begin();
    for (i = 0; i < job->rounds; i++) {
        uint64_t t0 = bench_wall_time(), t1, t2;

        start_objects();
        if (i == 0)
            note_bytes(result);
        starting += (t1 = bench_wall_time()) - t0;
        cancel_objects(run.n);
        cancelling += (t2 = bench_wall_time()) - t1;
        pass_cancelled();
        passing += bench_wall_time() - t2;
    }
    all = (double)(starting + cancelling + passing);
    result->operations = run.n * job->rounds;
    add_share(result, "start", (double)starting / all, result->operations,
              false);
    add_share(result, "cancel", (double)cancelling / all, result->operations,
              true);
    add_share(result, "pass", (double)passing / all, result->operations, true);
    if (run.fired > 0)
        result->failure = "a cancelled timer fired";
    start_objects();
    cancel_objects(run.n / 2);
    finish_objects(result);
}
