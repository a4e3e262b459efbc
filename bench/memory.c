/* SPDX-License-Identifier: MIT
 *
 * memory.c - memory for the bench program and its engines.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

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
