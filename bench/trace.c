/* SPDX-License-Identifier: MIT
 *
 * trace.c - reads the recordings in traces/. A recording alone tells which
 * timers a replay must fire: a timer fires if no call cancels or restarts the
 * timer before the first call at or after its due time.
 *
 *     <microseconds since the line before> S <timer> <microseconds until due>
 *     <microseconds since the line before> C <timer>
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

/* Returns the text of a file, which may be compressed. The shell reads the name
 * from its environment, where no character of the name means anything. */
static FILE *open_unpacked(const char *path)
{
    return setenv("TRACE", path, 1) == 0 ? popen("gzip -dcf -- \"$TRACE\"", "r")
                                         : NULL;
}

/* Parses a line into a call. Returns false for any other text. */
static bool parse_line(const char *line, uint64_t *clock, bench_call *call)
{
    uint64_t delta, delay = 0;
    char kind;
    int fields = sscanf(line, "%" SCNu64 " %c %" SCNu32 " %" SCNu64, &delta,
                        &kind, &call->timer, &delay);

    if (!(kind == 'S' && fields == 4) && !(kind == 'C' && fields == 3))
        return false;
    *clock += delta;
    call->moment = *clock;
    call->due = kind == 'S' ? *clock + delay : BENCH_CALL_CANCEL;
    return true;
}

static void add_call(bench_trace *trace, size_t *capacity, bench_call call)
{
    if (trace->count == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 4096;
        trace->calls = realloc(trace->calls, *capacity * sizeof(bench_call));
        if (trace->calls == NULL)
            bench_out_of_memory();
    }
    trace->calls[trace->count++] = call;
    if (call.timer >= trace->timers)
        trace->timers = (size_t)call.timer + 1;
}

static bool read_calls(FILE *in, bench_trace *trace)
{
    char line[128];
    size_t capacity = 0;
    uint64_t clock = 0;

    while (fgets(line, sizeof(line), in) != NULL) {
        bench_call call;

        if (!parse_line(line, &clock, &call))
            return false;
        add_call(trace, &capacity, call);
    }
    return trace->count > 0 && !ferror(in);
}

static void expect(bench_trace *trace, uint64_t seed, uint32_t timer,
                   uint64_t due)
{
    uint64_t key = bench_key(seed, timer);

    trace->fires++;
    trace->key_sum += key;
    trace->when_sum += key * due;
}

/* Computes the timers that must fire, with one due time per timer. */
static void work_out(bench_trace *trace, uint64_t seed)
{
    uint64_t *due = bench_alloc(trace->timers * sizeof(*due));
    size_t i;

    for (i = 0; i < trace->timers; i++)
        due[i] = BENCH_CALL_CANCEL;
    for (i = 0; i < trace->count; i++) {
        const bench_call *call = &trace->calls[i];

        if (due[call->timer] <= call->moment)
            expect(trace, seed, call->timer, due[call->timer]);
        due[call->timer] = call->due;
    }
    for (i = 0; i < trace->timers; i++)
        if (due[i] != BENCH_CALL_CANCEL)
            expect(trace, seed, (uint32_t)i, due[i]);
    free(due);
}

bench_trace *bench_trace_read(const char *path, uint64_t seed)
{
    bench_trace *trace = calloc(1, sizeof(*trace));
    FILE *in = open_unpacked(path);
    bool complete = trace != NULL && in != NULL && read_calls(in, trace);

    if (in == NULL || pclose(in) != 0 || !complete) {
        fprintf(stderr, "timers: cannot read a trace from %s\n", path);
        bench_trace_free(trace);
        return NULL;
    }
    work_out(trace, seed);
    return trace;
}

void bench_trace_free(bench_trace *trace)
{
    if (trace != NULL)
        free(trace->calls);
    free(trace);
}
