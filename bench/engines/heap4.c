/* SPDX-License-Identifier: MIT
 *
 * heap4.c - the engine "heap4": a 4-ary heap in an array.
 */
#define _POSIX_C_SOURCE 200809L

#define ENGINE_NAME "heap4"
#define ENGINE_WHAT "4-ary array heap"

#include "heap.h"
