/* SPDX-License-Identifier: MIT
 *
 * timers.c - runs one workload on one engine, in virtual time, and prints what
 * it cost: ns per operation, wake-ups, bytes, and a checksum of what fired
 * when. README.md beside it says how to read the figures.
 *
 *     timers ENGINE WORKLOAD N [--seed S] [--json] [--rounds R] [--log FILE]
 *     timers ENGINE trace FILE ...
 *     timers ENGINE[,ENGINE...] calls-minute|calls-hour|calls-idle N ...
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char *const workload_names[BENCH_WORKLOADS] = {
    "hold",       "expire",        "restart",        "postpone",
    "startstop",  "sparse",        "burst",          "trace",
    "limit",      "still-restart", "still-postpone", "calls-minute",
    "calls-hour", "calls-idle"};

static const bench_engine *const engines[] = {
    &bench_wheel,    &bench_wheel_late, &bench_heap4, &bench_heap2,
#ifdef BENCH_HAS_RBTREE
    &bench_rbtree,
#endif
    &bench_list,
#ifdef BENCH_HAS_LIBEV
    &bench_libev,
#endif
#ifdef BENCH_HAS_LIBUV
    &bench_libuv,
#endif
#ifdef BENCH_HAS_LIBEVENT
    &bench_libevent,
#endif
#ifdef BENCH_HAS_GLIB
    &bench_glib,
#endif
};

#define ENGINES (sizeof(engines) / sizeof(engines[0]))

typedef struct options {
    const bench_engine *engines[ENGINES];
    size_t engine_count; /* above 1 in the workloads calls-* only          */
    bench_workload workload;
    const char *trace;
    const char *log;
    uint64_t n;
    uint64_t seed;
    uint64_t rounds;
    bool json;
} options;

void bench_out_of_memory(void)
{
    fputs("timers: out of memory; try fewer timers\n", stderr);
    exit(1);
}

void *bench_alloc(size_t size)
{
    void *memory;

    if (posix_memalign(&memory, 64, size ? size : 1) != 0)
        bench_out_of_memory();
    return memory;
}

/* ------------------------------------------------------------ arguments --- */

static void usage(FILE *out)
{
    size_t i;

    fputs("usage: timers ENGINE WORKLOAD N [--seed S] [--json] [--rounds R]"
          " [--log FILE]\n"
          "       timers ENGINE trace FILE ...\n"
          "       timers ENGINE[,ENGINE...] calls-... N ...\n"
          "       timers mailbox|mutex post THREADS [IN_FLIGHT]"
          " [--seed S]\n"
          "       timers shard THREADS [--seed S]\n\nengines:\n",
          out);
    for (i = 0; i < ENGINES; i++)
        fprintf(out, "  %-10s %s\n", engines[i]->name, engines[i]->what);
    fputs("\nworkloads:\n ", out);
    for (i = 0; i < BENCH_WORKLOADS; i++)
        fprintf(out, " %s", workload_names[i]);
    fputs("\n", out);
}

static void refuse(const char *what, const char *which)
{
    fprintf(stderr, "timers: %s: %s (--help lists what there is)\n", what,
            which);
    exit(2);
}

static const bench_engine *engine_named(const char *name)
{
    size_t i;

    for (i = 0; i < ENGINES; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    refuse("no such engine here", name);
    return NULL;
}

static bool is_calls(bench_workload workload)
{
    return workload >= BENCH_CALLS_MINUTE;
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
        o->engines[o->engine_count++] = engine;
    }
    if (o->engine_count == 0)
        refuse("no engine", names);
}

/* The engines can run the workload, or the program ends. */
static void check_engines(const options *o)
{
    size_t i;

    if (o->engine_count > 1 && !is_calls(o->workload))
        refuse("several engines run only calls-*", o->engines[1]->name);
    for (i = 0; i < o->engine_count; i++) {
        const bench_engine *engine = o->engines[i];

        if (is_calls(o->workload) ? engine->calls == NULL
                                  : engine->workloads[o->workload] == NULL)
            refuse("that workload is not for this engine", engine->name);
    }
}

static bench_workload workload_named(const char *name)
{
    size_t i;

    for (i = 0; i < BENCH_WORKLOADS; i++)
        if (strcmp(workload_names[i], name) == 0)
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

    if (strcmp(name, "--json") == 0) {
        o->json = true;
        return;
    }
    if (*i + 1 >= argc)
        refuse("unknown option, or its value is missing", name);
    *i += 1;
    if (strcmp(name, "--seed") == 0)
        o->seed = number(argv[*i], 0, UINT64_MAX);
    else if (strcmp(name, "--rounds") == 0)
        o->rounds = number(argv[*i], 1, UINT32_MAX);
    else if (strcmp(name, "--log") == 0)
        o->log = argv[*i];
    else
        refuse("unknown option", name);
}

static options parse(int argc, char **argv)
{
    options o = {0};
    int i;

    o.seed = 1;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        exit(0);
    }
    if (argc < 4) {
        usage(stderr);
        exit(2);
    }
    parse_engines(&o, argv[1]);
    o.workload = workload_named(argv[2]);
    check_engines(&o);
    if (o.workload == BENCH_TRACE)
        o.trace = argv[3];
    else
        o.n = number(argv[3], 1, UINT32_MAX - 1);
    for (i = 4; i < argc; i++)
        parse_option(&o, &i, argc, argv);
    return o;
}

/* --------------------------------------------------------------- output --- */

/* How many operations make a run of about a second. It must not depend on the
 * engine: the checksums of all are compared. */
static uint64_t default_rounds(bench_workload workload, uint64_t size)
{
    static const uint64_t millions[BENCH_WORKLOADS][3] = {
        /* up to 100 k, up to 1 M, above */
        {25, 12, 20},  /* hold      */
        {25, 12, 20},  /* expire    */
        {40, 10, 10},  /* restart   */
        {200, 40, 40}, /* postpone  */
        {80, 80, 80},  /* startstop */
        {20, 10, 10},  /* sparse    */
        {100, 60, 40}, /* burst     */
        {60, 60, 60},  /* trace     */
        {20, 20, 20},  /* limit     */
        {3, 2, 2},     /* still-restart  */
        {3, 2, 2},     /* still-postpone */
        {1, 1, 1},     /* calls-minute   */
        {4, 4, 4},     /* calls-hour     */
        {1, 1, 1},     /* calls-idle     */
    };
    size_t column = size <= 100000 ? 0 : size <= 1000000 ? 1 : 2;
    uint64_t operations = millions[workload][column] * 1000000;

    return operations > size ? operations / size : 1;
}

static const char *const quantile_names[BENCH_QUANTILES] = {
    "p50", "p99", "p99.9", "p99.99", "max"};

static double per(double sum, uint64_t count)
{
    return count == 0 ? 0.0 : sum / (double)count;
}

static double bytes_per_timer(const bench_job *job, const bench_result *r)
{
    return per((double)r->bytes, job->n) + (double)r->timer_size;
}

static void print_json(FILE *out, const options *o, const bench_engine *engine,
                       const bench_job *job, const bench_result *r)
{
    size_t i;

    fprintf(out,
            "{\"engine\": \"%s\", \"workload\": \"%s\", \"n\": %zu, "
            "\"seed\": %" PRIu64 ", \"rounds\": %" PRIu64 ", "
            "\"operations\": %" PRIu64 ", \"seconds\": %.3f, "
            "\"ns_per_operation\": %.3f, \"phases\": {",
            engine->name, workload_names[o->workload], job->n, job->seed,
            job->rounds, r->operations, r->ns / 1e9, per(r->ns, r->operations));
    for (i = 0; i < r->phase_count; i++)
        fprintf(out, "%s\"%s\": %.3f", i ? ", " : "", r->phases[i].name,
                per(r->phases[i].ns, r->phases[i].operations));
    fprintf(out,
            "}, \"floor_ns\": %.3f, \"fired\": %" PRIu64
            ", \"wakeups\": %" PRIu64 ", \"wakeups_per_fired\": %.4f, "
            "\"bytes_per_timer\": %.1f, \"checksum\": \"%016" PRIx64 "\"",
            r->floor_ns, r->fired, r->wakeups,
            per((double)r->wakeups, r->fired), bytes_per_timer(job, r),
            r->checksum);
    if (r->calls > 0) {
        fprintf(out, ", \"calls\": %" PRIu64, r->calls);
        for (i = 0; i < BENCH_QUANTILES; i++)
            fprintf(out, ", \"%s\": %.0f, \"idle_%s\": %.0f", quantile_names[i],
                    r->quantiles[i], quantile_names[i], r->idle[i]);
    }
    if (is_calls(o->workload))
        fprintf(out,
                ", \"moved\": %.3f, \"most_moved\": %" PRIu64
                ", \"fired_with_most\": %" PRIu64,
                r->moved, r->most_moved, r->fired_with_most);
    fputs("}\n", out);
}

static void print_text(const options *o, const bench_engine *engine,
                       const bench_job *job, const bench_result *r)
{
    size_t i;

    printf("%s %s, %zu timers, seed %" PRIu64 ", %" PRIu64 " rounds, %" PRIu64
           " operations in %.3f s\n",
           engine->name, workload_names[o->workload], job->n, job->seed,
           job->rounds, r->operations, r->ns / 1e9);
    printf("  ns per operation    %10.2f\n", per(r->ns, r->operations));
    for (i = 0; i < r->phase_count; i++)
        printf("    %-17s %10.2f%s\n", r->phases[i].name,
               per(r->phases[i].ns, r->phases[i].operations),
               r->phases[i].counted ? "" : "  (not counted)");
    if (r->floor_ns > 0)
        printf("  floor, ns per timer %10.2f\n", r->floor_ns);
    if (r->fired > 0)
        printf("  wake-ups per fired  %10.4f  (%" PRIu64 " / %" PRIu64 ")\n",
               per((double)r->wakeups, r->fired), r->wakeups, r->fired);
    if (r->bytes > 0)
        printf("  bytes per timer     %10.1f  (%zu in the timer)\n",
               bytes_per_timer(job, r), r->timer_size);
    if (r->calls > 0)
        printf("  ns of one call, of %" PRIu64
               ", and of a loop that only waits:\n",
               r->calls);
    for (i = 0; i < BENCH_QUANTILES && r->calls > 0; i++)
        printf("    %-17s %10.0f %10.0f\n", quantile_names[i], r->quantiles[i],
               r->idle[i]);
    if (is_calls(o->workload))
        printf("  moved per call      %10.2f  (at most %" PRIu64
               ", in a call that fired %" PRIu64 ")\n",
               r->moved, r->most_moved, r->fired_with_most);
    printf("  checksum      %016" PRIx64 "\n", r->checksum);
}

/* Adds the result to a file with one JSON object per line. */
static void write_log(const options *o, const bench_engine *engine,
                      const bench_job *job, const bench_result *r)
{
    FILE *out = fopen(o->log, "a");

    if (out == NULL)
        refuse("cannot write", o->log);
    print_json(out, o, engine, job, r);
    fclose(out);
}

/* Returns true if the run was in order. */
static bool report(const options *o, const bench_engine *engine,
                   const bench_job *job, const bench_result *r)
{
    if (o->json)
        print_json(stdout, o, engine, job, r);
    else
        print_text(o, engine, job, r);
    if (o->log != NULL)
        write_log(o, engine, job, r);
    if (r->failure != NULL)
        fprintf(stderr, "timers: %s: %s\n", engine->name, r->failure);
    return r->failure == NULL;
}

/* ----------------------------------------------------------------- main --- */

/* Ticks, the longest delay in a workload of calls-*. */
static uint64_t longest_delay(bench_workload workload)
{
    switch (workload) {
    case BENCH_CALLS_HOUR:
        return 3600000;
    case BENCH_CALLS_IDLE:
        return 300000;
    default:
        return BENCH_LONGEST;
    }
}

/* With a trace, n is the number of its timers, and a round is all its calls. In
 * calls-idle every timer is postponed once in 10,000 ticks on average. */
static bench_job make_job(const options *o, const bench_trace *trace)
{
    uint64_t size = trace != NULL ? trace->count : o->n;
    bench_job job;

    job.n = trace != NULL ? trace->timers : (size_t)o->n;
    job.seed = o->seed;
    job.longest = longest_delay(o->workload);
    if (is_calls(o->workload))
        size = job.longest;
    job.packets = 0;
    if (o->workload == BENCH_CALLS_IDLE)
        job.packets = o->n > 10000 ? o->n / 10000 : 1;
    job.rounds = o->rounds ? o->rounds : default_rounds(o->workload, size);
    job.trace = trace;
    return job;
}

/* The engines take turns, so that noise of the machine meets all of them. */
static void run_calls(const options *o, const bench_job *job,
                      bench_result *results)
{
    bool more = true;
    size_t i;

    for (i = 0; i < o->engine_count; i++)
        o->engines[i]->calls->begin(job, &results[i]);
    while (more)
        for (i = 0; i < o->engine_count; i++)
            more = o->engines[i]->calls->slice();
    for (i = 0; i < o->engine_count; i++) {
        o->engines[i]->calls->end(&results[i]);
        if (results[i].checksum != results[0].checksum)
            results[i].failure = "other timers fired than in the first engine";
    }
}

int main(int argc, char **argv)
{
    int with_threads = bench_threads(argc, argv);
    if (with_threads >= 0)
        return with_threads;
    options o = parse(argc, argv);
    bench_trace *trace = NULL;
    bench_result results[ENGINES];
    bool failed = false;
    bench_job job;
    size_t i;

    if (o.trace != NULL && !(trace = bench_trace_read(o.trace, o.seed)))
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
