/* SPDX-License-Identifier: MIT
 *
 * calls.h - the workloads calls-*, which time single calls. A part of
 * workloads.h.
 *
 * A loop moves the clock by one tick (--pace) in each call of engine_advance,
 * and every call is timed by the wall clock. A timer that fires is started
 * again at a random delay. In calls-idle packets postpone random timers to the
 * longest delay, so hardly any timer fires.
 *
 * How the percentiles are taken: a run makes the same calls in two passes
 * (CALLS_PASSES), and the time of a call is the lesser of its two times. So
 * what interrupts the program now and then, such as the ticks of the system,
 * does not count as time of a call. The percentiles of a run are those of all
 * its calls; bench.py takes the median of the percentiles of three runs. The
 * slice of another engine leaves cold caches: the first calls of a slice give
 * no sample. The packets of calls-idle are not timed.
 */
#define CALLS_PER_SLICE 10000
#define CALLS_WITHOUT_SAMPLE 500

static struct {
    uint32_t *samples; /* ns of each call, the least of all passes */
    size_t count;      /* samples so far, in this pass */
    size_t left;       /* calls to come, in this pass */
    size_t total;
    uint64_t pace;    /* ticks by which a call moves the clock */
    uint64_t packets; /* timers postponed before each call */
    double ns;        /* process time of all slices, in this pass */
} calls;

/* An idle timeout that fires is started again in full. */
static void on_call(engine *e, node *t)
{
    item *it = item_of(t);
    uint64_t delay = run.longest;

    note_fired(it);
    if (calls.packets == 0)
        delay = random_delay(bench_next(&it->random));
    engine_start(e, t, run.now + delay);
}

/* Handles the packets of a tick, then moves the clock. Returns the ns of the
 * call that moves the clock. */
static inline uint32_t timed_call(void)
{
    uint64_t began, i;

    for (i = 0; i < calls.packets; i++)
        engine_postpone(&run.engine, random_timer(bench_random(&run.random)),
                        run.now + run.longest);
    run.now += calls.pace;
    began = bench_wall_time();
    engine_advance(&run.engine, run.now);
    began = bench_wall_time() - began;
    return began < UINT32_MAX ? (uint32_t)began : UINT32_MAX;
}

/* Starts all timers and makes the calls of one round without samples: later
 * rounds have the same distribution of deadlines. */
static void calls_begin(const bench_job *job, bench_result *result)
{
    uint64_t i;

    build(job, result);
    calls.pace = job->pace;
    calls.total = (size_t)(job->longest / job->pace * job->rounds);
    calls.left = calls.total;
    calls.count = 0;
    calls.ns = 0;
    if (calls.samples == NULL) { /* the first pass */
        calls.samples = bench_alloc(calls.total * sizeof(*calls.samples));
        memset(calls.samples, 0xff, calls.total * sizeof(*calls.samples));
    }
    calls.packets = job->packets;
    build_items(job->seed, on_call);
    phase_begin();
    for (i = 0; i < run.n; i++)
        engine_start(&run.engine, &item_at(i)->timer,
                     random_delay(bench_random(&run.random)));
    phase_end(result, "fill", run.n, false);
    note_bytes(result);
    phase_begin();
    for (i = 0; i < job->longest / job->pace; i++)
        timed_call();
    phase_end(result, "settle", i, false);
    phase_begin();
}

static bool calls_slice(void)
{
    double began = bench_process_time();
    size_t i;

    set_loop_clock();
    for (i = 0; i < CALLS_PER_SLICE && calls.left > 0; i++, calls.left--) {
        uint32_t ns = timed_call();

        if (i < CALLS_WITHOUT_SAMPLE / calls.pace)
            continue;
        if (ns < calls.samples[calls.count])
            calls.samples[calls.count] = ns;
        calls.count++;
    }
    calls.ns += bench_process_time() - began;
    return calls.left > 0;
}

static void calls_end(bench_result *result)
{
    run.began = bench_process_time() - calls.ns;
    phase_end(result, "calls", calls.total, true);
    set_loop_clock(); /* engine_destroy may turn the loop */
    finish(result);
}

static void calls_report(bench_result *result)
{
    bench_quantiles(calls.samples, calls.count, result->quantiles);
    result->calls = calls.count;
    free(calls.samples);
    calls.samples = NULL;
}

static const bench_calls calls_table = {calls_begin, calls_slice, calls_end,
                                        calls_report};
