/* SPDX-License-Identifier: MIT
 *
 * heap2.c - the engine "heap2": a binary heap in an array.
 */
#define _POSIX_C_SOURCE 200809L

#define HEAP_ARITY 2
#define ENGINE_NAME "heap2"
#define ENGINE_WHAT "binary array heap, as in libevent"

#include "heap.h"
