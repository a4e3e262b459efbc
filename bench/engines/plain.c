/* SPDX-License-Identifier: MIT
 *
 * plain.c - the engine "plain": the heap of heap.h, where to postpone a timer
 * is to move the entry at once.
 */
#define _POSIX_C_SOURCE 200809L

#define ENGINE_NAME "plain"
#define ENGINE_WHAT "4-ary array heap"

#include "heap.h"
