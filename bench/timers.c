/* SPDX-License-Identifier: MIT
 *
 * timers.c - the bench program: runs one workload on one engine, in virtual
 * time, and prints a figure a line: ns per operation, wake-ups, bytes, and a
 * checksum of the timers that fired. README.md explains the figures.
 *
 *     timers ENGINE WORKLOAD N [OPTION...]
 *     timers ENGINE trace FILE [OPTION...]
 *     timers ENGINE[,ENGINE...] calls-... N [OPTION...]
 *     timers ENGINE[,ENGINE...] calls-hour|calls-10-minutes PACE [OPTION...]
 *     timers mailbox|mutex post-... THREADS [OPTION...]
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* The workloads: about how many operations a run makes with up to 100 k timers,
 * and with more; the shortest and the longest delay in ticks; what an operation
 * is. */
// clang-format off
static const struct {
    const char *name;
    uint64_t few, many, shortest, longest;
    const char *what;
} workloads[BENCH_WORKLOADS] = {
    [BENCH_HOLD] = {"hold", 2000000, 1000000, 1, 60000,
        "a timer fires and starts again"},
    [BENCH_HOLD_NS] = {"hold-ns", 2000000, 1000000, 1, 60000,
        "as hold, the clock in ns, ticks of 1 ms"},
    [BENCH_EXPIRE] = {"expire", 2000000, 1000000, 1, 60000,
        "a timer starts and fires, in random memory order"},
    [BENCH_RESTART] = {"restart", 2000000, 1000000, 1, 60000,
        "cancel a random timer and start it again"},
    [BENCH_KEEPALIVE] = {"keepalive", 2000000, 1000000, 90000, 90000,
        "as restart, every delay 90 s"},
    [BENCH_POSTPONE] = {"postpone", 4000000, 1000000, 1, 60000,
        "postpone a random timer"},
    [BENCH_CANCEL] = {"cancel", 2000000, 1000000, 1, 60000,
        "cancel a random timer"},
    [BENCH_STARTSTOP] = {"startstop", 2000000, 1000000, 1, 60000,
        "start and cancel one more timer"},
    [BENCH_BURST] = {"burst", 4000000, 1000000, 1, 60000,
        "a timer starts and fires, all in one tick"},
    [BENCH_SPARSE] = {"sparse", 2000000, 1000000, 1, 60000,
        "as hold, ticks of 1 ns, delays from 1 us to 1 h"},
    [BENCH_IDLE] = {"idle", 2000000, 1000000, 1, 60000,
        "a turn of the loop, no timer is due"},
    [BENCH_TRACE] = {"trace", 5000000, 5000000, 1, 60000,
        "a call of a recorded program"},
    [BENCH_POST_64] = {"post-64", 1, 1, 1, 60000,
        "a start or cancel by one of N threads, 64 requests at once"},
    [BENCH_POST_1024] = {"post-1024", 1, 1, 1, 60000,
        "the same with 1,024 requests at once"},
    [BENCH_CALLS_MINUTE] = {"calls-minute", 60000, 60000, 1, 60000,
        "a call moves the clock by 1 ms, delays up to a minute"},
    [BENCH_CALLS_IDLE] = {"calls-idle", 300000, 300000, 1, 300000,
        "the same with timeouts of 5 min that packets postpone"},
    [BENCH_CALLS_HOUR] = {"calls-hour", 3600000, 3600000, 1, 3600000,
        "a million timers, delays up to an hour, a call each N ms"},
    [BENCH_CALLS_10_MINUTES] = {"calls-10-minutes", 3600000, 3600000, 600000,
        660000, "the same with delays of 10 to 11 minutes"},
};
// clang-format on

#define MOST_ENGINES 32
#define CALLS_PASSES 2
#define PACED_TIMERS 1000000 /* where N is the pace of the loop */

typedef struct options {
    const bench_engine *engines[MOST_ENGINES];
    size_t engine_count; /* above 1 in the workloads calls-* only */
    bench_workload workload;
    const char *input; /* N, or the file of a trace */
    uint64_t n; /* timers, threads, or ticks by which a call moves the clock */
    uint64_t seed;
    uint64_t rounds;
} options;

/* ------------------------------------------------------------ arguments --- */

static void usage(FILE *out)
{
    const bench_engine *engine;
    size_t i;

    fputs("usage: timers ENGINE WORKLOAD N [OPTION...]\n"
          "       timers ENGINE trace FILE [OPTION...]\n"
          "       timers ENGINE[,ENGINE...] calls-... N [OPTION...]\n"
          "       timers ENGINE[,ENGINE...] calls-hour|calls-10-minutes PACE\n"
          "       timers mailbox|mutex post-... THREADS [OPTION...]\n"
          "       timers --engines|--workloads\n\n"
          "options:\n"
          "  --seed S      other random numbers\n"
          "  --rounds R    a round is N operations\n\n"
          "engines:\n",
          out);
    for (engine = bench_engines; engine; engine = engine->next)
        fprintf(out, "  %-13s %s\n", engine->name, engine->what);
    fputs("\nworkloads:\n", out);
    for (i = 0; i < BENCH_WORKLOADS; i++)
        fprintf(out, "  %-16s %s\n", workloads[i].name, workloads[i].what);
}

static bool is_calls(bench_workload workload)
{
    return workload >= BENCH_CALLS_MINUTE;
}

static bool is_paced(bench_workload workload)
{
    return workload >= BENCH_CALLS_HOUR;
}

/* The most timers with which an engine runs a workload; 0: it cannot. */
static size_t most_of(const bench_engine *engine, bench_workload workload)
{
    bool has_it = is_calls(workload) ? engine->calls != NULL
                                     : engine->workloads[workload] != NULL;

    return has_it ? engine->most(workload) : 0;
}

/* Prints a line per engine, for bench.py: name and version, and the most timers
 * of each workload, with tabs between them. */
static void list_engines(void)
{
    const bench_engine *engine;
    size_t i;

    for (engine = bench_engines; engine; engine = engine->next) {
        printf("%s\t%s", engine->name, engine->version);
        for (i = 0; i < BENCH_WORKLOADS; i++)
            printf("\t%s=%zu", workloads[i].name,
                   most_of(engine, (bench_workload)i));
        puts("");
    }
}

/* Prints a line per workload, for bench.py: the name, and an operation. */
static void list_workloads(void)
{
    size_t i;

    for (i = 0; i < BENCH_WORKLOADS; i++)
        printf("%s\t%s\n", workloads[i].name, workloads[i].what);
}

static void refuse(const char *what, const char *which)
{
    fprintf(stderr, "timers: %s: %s (see --help)\n", what, which);
    exit(2);
}

static const bench_engine *engine_named(const char *name)
{
    const bench_engine *engine;

    for (engine = bench_engines; engine; engine = engine->next)
        if (strcmp(engine->name, name) == 0)
            return engine;
    refuse("no such engine here", name);
    return NULL;
}

/* Engine names with commas between them. An engine can be named once. */
static void parse_engines(options *o, char *names)
{
    char *name;
    size_t i;

    for (name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
        const bench_engine *engine = engine_named(name);

        for (i = 0; i < o->engine_count; i++)
            if (o->engines[i] == engine)
                refuse("named twice", name);
        if (o->engine_count == MOST_ENGINES)
            refuse("too many engines", name);
        o->engines[o->engine_count++] = engine;
    }
    if (o->engine_count == 0)
        refuse("no engine", names);
}

/* Ends the program if an engine cannot run the workload. */
static void check_engines(const options *o)
{
    size_t i;

    if (o->engine_count > 1 && !is_calls(o->workload))
        refuse("several engines run only calls-*", o->engines[1]->name);
    for (i = 0; i < o->engine_count; i++)
        if (most_of(o->engines[i], o->workload) == 0)
            refuse("this engine cannot run the workload", o->engines[i]->name);
}

static bench_workload workload_named(const char *name)
{
    size_t i;

    for (i = 0; i < BENCH_WORKLOADS; i++)
        if (strcmp(workloads[i].name, name) == 0)
            return (bench_workload)i;
    refuse("no such workload", name);
    return BENCH_WORKLOADS;
}

static uint64_t number(const char *text, uint64_t least, uint64_t most)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 ||
        value < least || value > most)
        refuse("not a number in range", text);
    return value;
}

static void parse_option(options *o, int *i, int argc, char **argv)
{
    const char *name = argv[*i];

    if (*i + 1 >= argc)
        refuse("unknown option, or the value is missing", name);
    *i += 1;
    if (strcmp(name, "--seed") == 0)
        o->seed = number(argv[*i], 0, UINT64_MAX);
    else if (strcmp(name, "--rounds") == 0)
        o->rounds = number(argv[*i], 1, UINT32_MAX);
    else
        refuse("unknown option", name);
}

/* Handles the arguments that need no engine and end the program. */
static void parse_alone(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        exit(0);
    }
    if (argc == 2 && strcmp(argv[1], "--engines") == 0) {
        list_engines();
        exit(0);
    }
    if (argc == 2 && strcmp(argv[1], "--workloads") == 0) {
        list_workloads();
        exit(0);
    }
    if (argc < 4) {
        usage(stderr);
        exit(2);
    }
}

static options parse(int argc, char **argv)
{
    options o = {0};
    int i;

    o.seed = 1;
    parse_alone(argc, argv);
    parse_engines(&o, argv[1]);
    o.workload = workload_named(argv[2]);
    check_engines(&o);
    o.input = argv[3];
    if (o.workload != BENCH_TRACE)
        o.n = number(argv[3], 1, UINT32_MAX - 1);
    if (is_paced(o.workload) && o.n > workloads[o.workload].longest)
        refuse("the pace is above the longest delay", argv[3]);
    for (i = 4; i < argc; i++)
        parse_option(&o, &i, argc, argv);
    return o;
}

/* --------------------------------------------------------------- output --- */

static double per(double sum, uint64_t count)
{
    return count == 0 ? 0.0 : sum / (double)count;
}

static void print_phases(const bench_result *r)
{
    size_t i;

    printf("  operations          %12" PRIu64 "\n", r->operations);
    printf("  ns per operation    %12.2f\n", per(r->ns, r->operations));
    for (i = 0; i < r->phase_count; i++)
        printf("  ns, %-15s %12.2f%s\n", r->phases[i].name,
               per(r->phases[i].ns, r->phases[i].operations),
               r->phases[i].counted ? "" : "  (not counted)");
}

static void print_quantiles(const double *quantiles)
{
    static const char *const names[BENCH_QUANTILES] = {"p50", "p99", "p99.9",
                                                       "max"};
    size_t i;

    for (i = 0; i < BENCH_QUANTILES; i++)
        printf("  call, %-13s %12.0f\n", names[i], quantiles[i]);
}

/* Returns true if the run was in order. */
static bool report(const options *o, const bench_engine *engine,
                   const bench_job *job, const bench_result *r)
{
    printf("%s %s %s, seed %" PRIu64 ", %" PRIu64 " rounds\n", engine->name,
           workloads[o->workload].name, o->input, job->seed, job->rounds);
    print_phases(r);
    if (r->fired > 0) {
        printf("  fired               %12" PRIu64 "\n", r->fired);
        printf("  wake-ups            %12" PRIu64 "\n", r->wakeups);
    }
    if (r->bytes > 0) {
        printf("  bytes per timer     %12.1f\n",
               per((double)r->bytes, job->n) + (double)r->timer_size);
        printf("  bytes in the timer  %12zu\n", r->timer_size);
    }
    if (r->calls > 0)
        print_quantiles(r->quantiles);
    if (r->checksum != 0)
        printf("  checksum        %016" PRIx64 "\n", r->checksum);
    if (r->failure != NULL)
        fprintf(stderr, "timers: %s: %s\n", engine->name, r->failure);
    return r->failure == NULL;
}

/* ----------------------------------------------------------------- main --- */

/* Returns the rounds for about `operations`. The number must not depend on the
 * engine, because the checksums of all engines are compared. */
static uint64_t default_rounds(bench_workload workload, uint64_t size)
{
    uint64_t wanted =
        size <= 100000 ? workloads[workload].few : workloads[workload].many;

    return wanted > size ? wanted / size : 1;
}

/* With a trace, n is the number of its timers, and a round is all calls. In
 * calls-* a round is the longest delay, however fast the clock moves. In
 * calls-idle every timer is postponed once in 10,000 ticks on average. */
static bench_job make_job(const options *o, const bench_trace *trace)
{
    uint64_t size = trace != NULL ? trace->count : o->n;
    bench_job job;

    job.n = trace != NULL ? trace->timers : (size_t)o->n;
    job.seed = o->seed;
    job.tick = o->workload == BENCH_HOLD_NS ? BENCH_NS_PER_TICK : 1;
    job.shortest = workloads[o->workload].shortest;
    job.longest = workloads[o->workload].longest;
    job.pace = 1;
    if (is_paced(o->workload)) {
        job.n = PACED_TIMERS;
        job.pace = o->n;
    }
    if (is_calls(o->workload))
        size = job.longest;
    job.packets = 0;
    if (o->workload == BENCH_CALLS_IDLE)
        job.packets = o->n > 10000 ? o->n / 10000 : 1;
    job.rounds = o->rounds ? o->rounds : default_rounds(o->workload, size);
    job.trace = trace;
    job.in_flight = o->workload == BENCH_POST_64 ? 64 : 1024;
    return job;
}

/* The engines take turns, so noise of the machine meets all engines. */
static void run_calls(const options *o, const bench_job *job,
                      bench_result *results)
{
    bool more = false;
    size_t i, pass;

    for (pass = 0; pass < CALLS_PASSES; pass++) {
        for (i = 0; i < o->engine_count; i++)
            o->engines[i]->calls->begin(job, &results[i]);
        do
            for (i = 0; i < o->engine_count; i++)
                more = o->engines[i]->calls->slice();
        while (more);
        for (i = 0; i < o->engine_count; i++)
            o->engines[i]->calls->end(&results[i]);
    }
    for (i = 0; i < o->engine_count; i++) {
        o->engines[i]->calls->report(&results[i]);
        if (results[i].checksum != results[0].checksum)
            results[i].failure = "other timers fired than in the first engine";
    }
}

int main(int argc, char **argv)
{
    options o = parse(argc, argv);
    bench_trace *trace = NULL;
    bench_result results[MOST_ENGINES];
    bool failed = false;
    bench_job job;
    size_t i;

    if (o.workload == BENCH_TRACE &&
        (trace = bench_trace_read(o.input, o.seed)) == NULL)
        return 1;
    job = make_job(&o, trace);
    if (is_calls(o.workload))
        run_calls(&o, &job, results);
    else
        o.engines[0]->workloads[o.workload](&job, &results[0]);
    bench_trace_free(trace);
    for (i = 0; i < o.engine_count; i++)
        failed |= !report(&o, o.engines[i], &job, &results[i]);
    return failed;
}
