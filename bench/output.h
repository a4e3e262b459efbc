/* SPDX-License-Identifier: MIT
 *
 * output.h - the result of a run, as text and as a line of JSON.
 */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include <stdio.h>

#include "bench.h"

/* One run, to be printed. */
typedef struct output_run {
    const char *workload;
    const bench_engine *engine;
    const bench_job *job;
    const bench_result *result;
} output_run;

void output_text(FILE *out, const output_run *run);
void output_json(FILE *out, const output_run *run);

#endif
