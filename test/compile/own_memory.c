/* own_memory.c - TW_MALLOC and TW_FREE of the host's own.
 *
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
extern void *own_malloc(size_t size, void *context);
extern void own_free(void *pointer, void *context);
#define TW_MALLOC(size, context) own_malloc((size), (context))
#define TW_FREE(pointer, context) own_free((pointer), (context))
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
