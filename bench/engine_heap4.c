/* SPDX-License-Identifier: MIT
 *
 * engine_heap4.c - the bench's engine "heap4": a 4-ary heap in an array.
 */
#define _POSIX_C_SOURCE 200809L

#define HEAP_ARITY 4
#define ENGINE_TABLE bench_heap4
#define ENGINE_NAME "heap4"
#define ENGINE_WHAT "4-ary array heap"

#include "engine_heap.h"
