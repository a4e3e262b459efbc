/* SPDX-License-Identifier: MIT
 *
 * output.c - the result of a run, as text and as a line of JSON.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>

#include "output.h"

static const char *const quantile_names[BENCH_QUANTILES] = {
    "p50", "p99", "p99.9", "p99.99", "max"};

static double per(double sum, uint64_t count)
{
    return count == 0 ? 0.0 : sum / (double)count;
}

static double ns_per_operation(const bench_result *r)
{
    return per(r->ns, r->operations);
}

static double bytes_per_timer(const bench_job *job, const bench_result *r)
{
    return per((double)r->bytes, job->n) + (double)r->timer_size;
}

static void json_phases(FILE *out, const bench_result *r)
{
    size_t i;

    for (i = 0; i < r->phase_count; i++)
        fprintf(out, ", \"phase_%s\": %.3f", r->phases[i].name,
                per(r->phases[i].ns, r->phases[i].operations));
}

static void json_calls(FILE *out, const bench_result *r)
{
    size_t i;

    fprintf(out, ", \"calls\": %" PRIu64, r->calls);
    for (i = 0; i < BENCH_QUANTILES; i++)
        fprintf(out, ", \"%s\": %.0f, \"idle_%s\": %.0f", quantile_names[i],
                r->quantiles[i], quantile_names[i], r->idle[i]);
    fprintf(out,
            ", \"moved\": %.3f, \"most_moved\": %" PRIu64
            ", \"fired_with_most\": %" PRIu64,
            r->moved, r->most_moved, r->fired_with_most);
}

void output_json(FILE *out, const output_run *run)
{
    const bench_job *job = run->job;
    const bench_result *r = run->result;

    fprintf(out,
            "{\"engine\": \"%s\", \"workload\": \"%s\", \"n\": %zu, "
            "\"object\": %zu, \"seed\": %" PRIu64 ", \"rounds\": %" PRIu64
            ", \"operations\": %" PRIu64 ", \"seconds\": %.3f, "
            "\"ns_per_operation\": %.3f",
            run->engine->name, run->workload, job->n, job->object, job->seed,
            job->rounds, r->operations, r->ns / 1e9, ns_per_operation(r));
    json_phases(out, r);
    fprintf(
        out,
        ", \"floor_ns\": %.3f, \"fired\": %" PRIu64 ", \"wakeups\": %" PRIu64
        ", \"wakeups_per_fired\": %.4f, \"bytes_per_timer\": %.1f, "
        "\"timer_bytes\": %zu, \"checksum\": \"%016" PRIx64 "\"",
        r->floor_ns, r->fired, r->wakeups, per((double)r->wakeups, r->fired),
        bytes_per_timer(job, r), r->timer_size, r->checksum);
    if (r->calls > 0)
        json_calls(out, r);
    fputs("}\n", out);
}

static void text_calls(FILE *out, const bench_result *r)
{
    size_t i;

    fprintf(out,
            "  ns of one call, of %" PRIu64
            ", and of a loop that only waits:\n",
            r->calls);
    for (i = 0; i < BENCH_QUANTILES; i++)
        fprintf(out, "    %-17s %10.0f %10.0f\n", quantile_names[i],
                r->quantiles[i], r->idle[i]);
    fprintf(out,
            "  moved per call      %10.2f  (at most %" PRIu64
            ", in a call that fired %" PRIu64 ")\n",
            r->moved, r->most_moved, r->fired_with_most);
}

void output_text(FILE *out, const output_run *run)
{
    const bench_job *job = run->job;
    const bench_result *r = run->result;
    size_t i;

    fprintf(out,
            "%s %s, %zu timers, seed %" PRIu64 ", %" PRIu64 " rounds, %" PRIu64
            " operations in %.3f s\n",
            run->engine->name, run->workload, job->n, job->seed, job->rounds,
            r->operations, r->ns / 1e9);
    if (job->object > 0)
        fprintf(out, "  bytes per object    %10zu\n", job->object);
    fprintf(out, "  ns per operation    %10.2f\n", ns_per_operation(r));
    for (i = 0; i < r->phase_count; i++)
        fprintf(out, "    %-17s %10.2f%s\n", r->phases[i].name,
                per(r->phases[i].ns, r->phases[i].operations),
                r->phases[i].counted ? "" : "  (not counted)");
    if (r->floor_ns > 0)
        fprintf(out, "  floor, ns per timer %10.2f\n", r->floor_ns);
    if (r->fired > 0)
        fprintf(out,
                "  wake-ups per fired  %10.4f  (%" PRIu64 " / %" PRIu64 ")\n",
                per((double)r->wakeups, r->fired), r->wakeups, r->fired);
    if (r->bytes > 0)
        fprintf(out, "  bytes per timer     %10.1f  (%zu in the timer)\n",
                bytes_per_timer(job, r), r->timer_size);
    if (r->calls > 0)
        text_calls(out, r);
    fprintf(out, "  checksum      %016" PRIx64 "\n", r->checksum);
}
