/* free_only.c - TW_FREE without TW_MALLOC. Must be refused.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#define TW_FREE(pointer, context) ((void)(context), free(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
