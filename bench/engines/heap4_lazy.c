/* SPDX-License-Identifier: MIT
 *
 * heap4_lazy.c - the engine "heap4_lazy": the 4-ary heap, but to postpone only
 * writes the deadline.
 */
#define _POSIX_C_SOURCE 200809L

#define HEAP_LAZY 1
#define ENGINE_NAME "heap4_lazy"
#define ENGINE_WHAT "4-ary array heap, postponed by one store"

#include "heap.h"
