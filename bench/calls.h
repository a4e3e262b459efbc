/* SPDX-License-Identifier: MIT
 *
 * calls.h - the workloads that time single calls: limit and calls-*. A part of
 * workloads.h.
 */
/* ------------------------------------------------ times of single calls --- */

static int compare_samples(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

    return (first > second) - (first < second);
}

static void quantiles_of(uint32_t *samples, size_t count, double *quantiles)
{
    static const double parts[BENCH_QUANTILES] = {0.5, 0.99, 0.999, 0.9999, 1};
    size_t i;

    qsort(samples, count, sizeof(*samples), compare_samples);
    for (i = 0; i < BENCH_QUANTILES && count > 0; i++)
        quantiles[i] = samples[(size_t)((double)(count - 1) * parts[i])];
}

static uint32_t as_sample(uint64_t ns)
{
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* Measures the noise of the machine: the times of loops that do nothing until
 * `ns` have passed. */
static void idle_calls(uint32_t *samples, size_t count, double ns)
{
    size_t i;

    for (i = 0; i < count; i++) {
        uint64_t began = bench_wall_time(), took;

        do
            took = bench_wall_time() - began;
        while ((double)took < ns);
        samples[i] = as_sample(took);
    }
}

#ifdef ENGINE_HAS_LIMIT

/* limit: as hold, but a call handles at most 64 timers. Every call is timed by
 * the wall clock. */
#define LIMIT 64

/* Calls until no timer is due. Returns the number of samples. */
static size_t limited_calls(uint32_t *samples, size_t count, size_t capacity)
{
    uint64_t deadline;

    do {
        uint64_t began = bench_wall_time(), took;

        engine_advance_limit(&run.engine, run.now, LIMIT);
        took = bench_wall_time() - began;
        if (count < capacity)
            samples[count++] = as_sample(took);
    } while (engine_next(&run.engine, &deadline) && deadline <= run.now);
    return count;
}

static void workload_limit(const bench_job *job, bench_result *result)
{
    size_t capacity = (size_t)(job->n * job->rounds / 4) + 1000000;
    uint32_t *samples = bench_alloc(capacity * sizeof(*samples));
    size_t count = 0;

    build(job, result);
    build_items(job->seed, on_rearm);
    fill(result);
    phase_begin();
    while (run.fired < run.n * job->rounds &&
           engine_next(&run.engine, &run.now)) {
        run.wakeups++;
        count = limited_calls(samples, count, capacity);
    }
    phase_end(result, "limit", run.fired, true);
    result->calls = count;
    quantiles_of(samples, count, result->quantiles);
    idle_calls(samples, count, result->quantiles[0]);
    quantiles_of(samples, count, result->idle);
    free(samples);
    finish(result);
}

#else
#define workload_limit NULL
#endif

/* calls-*: a busy loop moves the clock by one tick in every call of
 * engine_advance, and every call is timed by the wall clock. A timer that fires
 * is started again at a random delay. In calls-idle packets postpone random
 * timers to the longest delay, so hardly any timer fires. The slice of another
 * engine leaves cold caches: the first calls of a slice give no sample. */
#define CALLS_PER_SLICE 10000
#define CALLS_WITHOUT_SAMPLE 500

static struct {
    uint32_t *samples; /* ns of a call each */
    size_t count;      /* samples so far */
    size_t left;       /* calls to come */
    size_t total;
    uint64_t longest;         /* ticks, the longest delay */
    uint64_t packets;         /* timers postponed before each call */
    uint64_t moved;           /* timers moved in all calls */
    uint64_t most_moved;      /* timers moved in the call that moved the most */
    uint64_t fired_with_most; /* timers fired in the same call */
    double ns;                /* process time of all slices */
    bool over;                /* timers that fire are not started again */
} calls;

static inline uint64_t calls_delay(uint64_t random)
{
    return 1 + bench_below(random, calls.longest);
}

/* An idle time-out that fires is started again in full. */
static void on_call(engine *e, node *t)
{
    item *it = item_of(t);
    uint64_t delay = calls.longest;

    note_fired(it);
    if (calls.packets == 0)
        delay = calls_delay(bench_next(&it->random));
    if (!calls.over)
        engine_start(e, t, run.now + delay);
}

/* Handles the packets of a tick, then moves the clock. Returns the ns of the
 * call that moves the clock. */
static inline uint32_t timed_call(void)
{
    uint64_t began, i;

    for (i = 0; i < calls.packets; i++)
        engine_postpone(&run.engine, random_timer(bench_random(&run.random)),
                        run.now + calls.longest);
    run.now++;
    began = bench_wall_time();
    engine_advance(&run.engine, run.now);
    return as_sample(bench_wall_time() - began);
}

/* Starts all timers and makes the calls of one round without samples: later
 * rounds have the same distribution of deadlines. */
static void calls_begin(const bench_job *job, bench_result *result)
{
    uint64_t i;

    build(job, result);
    memset(&calls, 0, sizeof(calls));
    calls.total = (size_t)(job->longest * job->rounds);
    calls.left = calls.total;
    calls.samples = bench_alloc(calls.total * sizeof(*calls.samples));
    calls.longest = job->longest;
    calls.packets = job->packets;
    build_items(job->seed, on_call);
    phase_begin();
    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(i)->timer,
                     calls_delay(bench_random(&run.random)));
    phase_end(result, "fill", run.n, false);
    note_bytes(result);
    phase_begin();
    for (i = 0; i < job->longest; i++)
        timed_call();
    phase_end(result, "settle", job->longest, false);
    phase_begin();
}

static bool calls_slice(void)
{
    double began = bench_process_time();
    size_t i;

    set_loop_clock();
    for (i = 0; i < CALLS_PER_SLICE && calls.left > 0; i++, calls.left--) {
        uint64_t moved = engine_moved(&run.engine), fired = run.fired;
        uint32_t ns = timed_call();

        if (i >= CALLS_WITHOUT_SAMPLE)
            calls.samples[calls.count++] = ns;
        moved = engine_moved(&run.engine) - moved;
        calls.moved += moved;
        if (moved > calls.most_moved) {
            calls.most_moved = moved;
            calls.fired_with_most = run.fired - fired;
        }
    }
    calls.ns += bench_process_time() - began;
    return calls.left > 0;
}

/* Ends the run. All timers fire, so the checksum covers all deadlines. */
static void calls_end(bench_result *result)
{
    run.began = bench_process_time() - calls.ns;
    phase_end(result, "calls", calls.total, true);
    calls.over = true;
    set_loop_clock();
    while (sleep_to_next())
        continue;
    result->calls = calls.count;
    result->moved = (double)calls.moved / (double)calls.total;
    result->most_moved = calls.most_moved;
    result->fired_with_most = calls.fired_with_most;
    quantiles_of(calls.samples, calls.count, result->quantiles);
    idle_calls(calls.samples, calls.count, result->quantiles[0]);
    quantiles_of(calls.samples, calls.count, result->idle);
    free(calls.samples);
    finish(result);
}

static const bench_calls calls_table = {calls_begin, calls_slice, calls_end};
#define CALLS_TABLE &calls_table
