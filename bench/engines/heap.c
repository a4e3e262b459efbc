/* SPDX-License-Identifier: MIT
 *
 * heap.c - the engine "heap": a 4-ary heap in an array. To postpone a timer is
 * to write the deadline: the entry moves when it is at the top.
 */
#define _POSIX_C_SOURCE 200809L

#define HEAP_LAZY 1
#define ENGINE_NAME "heap"
#define ENGINE_WHAT "4-ary array heap, postponed by one store"

#include "heap.h"
