/* SPDX-License-Identifier: MIT
 *
 * timers.c - the bench program: runs one workload on one engine, in virtual
 * time, and prints a figure a line: ns per operation, wake-ups, bytes, and a
 * checksum of the timers that fired. README.md explains the figures.
 *
 *     timers ENGINE WORKLOAD N [OPTION...]
 *     timers ENGINE trace FILE [OPTION...]
 *     timers mailbox|mutex post-... THREADS [OPTION...]
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct {
    const char *name;
    uint64_t few, many, shortest, longest; /* see bench.h */
    const char *what;
} workloads[BENCH_WORKLOADS] = {
#define ROW(constant, name, function, ...) {name, __VA_ARGS__},
    BENCH_PLAIN(ROW) BENCH_POST(ROW)};

typedef struct options {
    const bench_engine *engine;
    bench_workload workload;
    const char *input; /* N, or the file of a trace */
    uint64_t n;        /* timers, or threads */
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
          "       timers mailbox|mutex post-... THREADS [OPTION...]\n"
          "       timers --engines\n\n"
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

/* The most timers with which an engine runs a workload; 0: it cannot. */
static size_t most_of(const bench_engine *engine, bench_workload workload)
{
    return engine->workloads[workload] != NULL ? engine->most(workload) : 0;
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

static void parse_option(options *o, const char *name, const char *value)
{
    if (strcmp(name, "--seed") == 0)
        o->seed = number(value, 0, UINT64_MAX);
    else if (strcmp(name, "--rounds") == 0)
        o->rounds = number(value, 1, UINT32_MAX);
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
    o.engine = engine_named(argv[1]);
    o.workload = workload_named(argv[2]);
    if (most_of(o.engine, o.workload) == 0)
        refuse("this engine cannot run the workload", argv[1]);
    o.input = argv[3];
    if (o.workload != BENCH_TRACE)
        o.n = number(argv[3], 1, UINT32_MAX - 1);
    for (i = 4; i + 1 < argc; i += 2)
        parse_option(&o, argv[i], argv[i + 1]);
    if (i < argc)
        refuse("unknown option, or the value is missing", argv[i]);
    return o;
}

/* --------------------------------------------------------------- output --- */

static double per(double sum, uint64_t count)
{
    return count == 0 ? 0.0 : sum / (double)count;
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
static bool report(const options *o, const bench_job *job,
                   const bench_result *r)
{
    printf("%s %s %s, seed %" PRIu64 ", %" PRIu64 " rounds\n", o->engine->name,
           workloads[o->workload].name, o->input, job->seed, job->rounds);
    printf("  operations          %12" PRIu64 "\n", r->operations);
    printf("  ns per operation    %12.2f\n", per(r->ns, r->operations));
    if (r->loop_ns > 0)
        printf("  ns, loop            %12.2f\n",
               per(r->loop_ns, r->operations));
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
        fprintf(stderr, "timers: %s: %s\n", o->engine->name, r->failure);
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

/* Operations between two ticks. If timers are many, each is the subject of one
 * every 100 ticks (requests), 600 (restart, postpone) or 10,000 (calls-idle),
 * on average. */
static uint64_t packets_of(bench_workload workload, uint64_t n)
{
    switch (workload) {
    case BENCH_RESTART_64:
    case BENCH_KEEPALIVE_64:
        return 64;
    case BENCH_REQUESTS:
    case BENCH_CALLS_REQUESTS:
        return n > 100 ? n / 100 : 1;
    case BENCH_CALLS_IDLE:
        return n > 10000 ? n / 10000 : 1;
    default:
        return n / 600 > 64 ? n / 600 : 64;
    }
}

/* With a trace, n is the number of its timers, and a round is all its calls. */
static bench_job make_job(const options *o, const bench_trace *trace)
{
    uint64_t size = trace != NULL ? trace->count : o->n;
    bench_job job = {0};

    job.workload = o->workload;
    job.n = trace != NULL ? trace->timers : (size_t)o->n;
    job.seed = o->seed;
    job.tick = o->workload == BENCH_HOLD_NS ? BENCH_NS_PER_MS : 1;
    job.unit = o->workload == BENCH_STORE ? BENCH_MS_PER_S : BENCH_NS_PER_MS;
    job.shortest = workloads[o->workload].shortest;
    job.longest = workloads[o->workload].longest;
    job.packets = packets_of(o->workload, o->n);
    if (strncmp(workloads[o->workload].name, "calls-", 6) == 0)
        size = BENCH_CALLS_ROUND;
    if (o->workload == BENCH_COLD)
        size = BENCH_COLD_ROUND;
    job.rounds = o->rounds ? o->rounds : default_rounds(o->workload, size);
    job.trace = trace;
    job.in_flight = o->workload == BENCH_POST_64 ? 64 : 1024;
    return job;
}

int main(int argc, char **argv)
{
    options o = parse(argc, argv);
    bench_trace *trace = NULL;
    bench_result result = {0};
    bench_job job;

    if (o.workload == BENCH_TRACE &&
        (trace = bench_trace_read(o.input, o.seed)) == NULL)
        return 1;
    job = make_job(&o, trace);
    o.engine->workloads[o.workload](&job, &result);
    bench_trace_free(trace);
    return report(&o, &job, &result) ? 0 : 1;
}
