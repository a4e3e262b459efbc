/* SPDX-License-Identifier: MIT
 *
 * registry.c - the list of engines. Every engine registers before main begins,
 * so no file names the engines.
 */
#define _POSIX_C_SOURCE 200809L

#include <string.h>

#include "bench.h"

static bench_engine *first_engine;

void bench_register(bench_engine *engine)
{
    bench_engine **place = &first_engine;

    while (*place != NULL && strcmp((*place)->name, engine->name) < 0)
        place = &(*place)->next;
    engine->next = *place;
    *place = engine;
}

const bench_engine *bench_first_engine(void)
{
    return first_engine;
}
