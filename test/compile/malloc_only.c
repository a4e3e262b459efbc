/* malloc_only.c - TW_MALLOC without TW_FREE. Must be refused.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#define TW_MALLOC(size, context) ((void)(context), malloc(size))
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
