/* SPDX-License-Identifier: MIT
 *
 * bench.c - what the program, the engines and the reader of recordings share:
 * memory, quantiles, and the list of engines.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

bench_engine *bench_engines;

void bench_register(bench_engine *engine)
{
    bench_engine **place = &bench_engines;

    while (*place != NULL && strcmp((*place)->name, engine->name) < 0)
        place = &(*place)->next;
    engine->next = *place;
    *place = engine;
}

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

static int compare_samples(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

    return (first > second) - (first < second);
}

void bench_quantiles(uint32_t *samples, size_t count, double *quantiles)
{
    static const double parts[BENCH_QUANTILES] = {0.5, 0.99, 0.999, 1};
    size_t i;

    qsort(samples, count, sizeof(*samples), compare_samples);
    for (i = 0; i < BENCH_QUANTILES && count > 0; i++)
        quantiles[i] = samples[(size_t)((double)(count - 1) * parts[i])];
}
