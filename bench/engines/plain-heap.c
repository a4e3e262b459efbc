/* SPDX-License-Identifier: MIT
 *
 * plain-heap.c - the engine "plain-heap": the heap of heap.h, where to postpone
 * a timer is to move the entry at once.
 */
#define _POSIX_C_SOURCE 200809L

#define ENGINE_NAME "plain-heap"
#define ENGINE_WHAT "the heap, moved by each postpone"

#include "heap.h"
