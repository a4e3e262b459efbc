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
    size_t bytes; /* per object */
    uint64_t seed;
    uint32_t *order; /* the objects in another random order, or NULL */
    bool over;       /* timers that fire are not started again */
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
    objects.order = NULL;
    objects.over = false;
    memset(objects.memory, 0, run.n * objects.bytes);
    for (i = 0; i < run.n; i++)
        node_init(&run.engine, object_at(i), on_object);
}

/* Starts all objects, in random memory order if there is one. */
static void start_objects(void)
{
    size_t i;

    for (i = 0; i < run.n; i++)
        engine_start(&run.engine,
                     object_at(objects.order != NULL ? objects.order[i] : i),
                     run.now + random_delay(bench_random(&run.random)));
}

/* Lets all pending timers fire, so the checksum covers all deadlines. */
static void finish_objects(bench_result *result)
{
    objects.over = true;
    while (sleep_to_next())
        continue;
    free(objects.memory);
    free(objects.order);
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

/* object-cancel: start n timers in a random order, cancel all in another random
 * order, move the clock past all deadlines. Starting does not count. Moving the
 * clock counts, because some engines leave work of a cancel to that moment. */
static void cancel_all(bench_result *result, uint64_t rounds)
{
    static const char *const names[] = {"start", "cancel", "pass"};
    double ns[3] = {0, 0, 0};
    uint64_t operations = run.n * rounds, i;
    size_t k;

    for (i = 0; i < rounds; i++) {
        double t0 = bench_process_time(), t1, t2;

        start_objects();
        t1 = bench_process_time();
        cancel_objects(run.n);
        t2 = bench_process_time();
        pass_cancelled();
        ns[0] += t1 - t0;
        ns[1] += t2 - t1;
        ns[2] += bench_process_time() - t2;
    }
    for (k = 0; k < 3; k++) {
        bench_phase phase = {names[k], operations, ns[k], k > 0};

        result->phases[result->phase_count++] = phase;
    }
    result->operations = operations;
    result->ns = ns[1] + ns[2];
}

static void workload_object_cancel(const bench_job *job, bench_result *result)
{
    build(job, result);
    build_order();
    build_objects(job);
    objects.order = bench_alloc(run.n * sizeof(*objects.order));
    shuffle(objects.order, run.n, &run.random);
    start_objects();
    note_bytes(result);
    cancel_objects(run.n);
    pass_cancelled();
    cancel_all(result, job->rounds);
    if (run.fired > 0)
        result->failure = "a cancelled timer fired";
    start_objects();
    cancel_objects(run.n / 2);
    finish_objects(result);
}
