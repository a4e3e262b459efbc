/* static_twice.c - static functions, and the header included twice.
 *
 * SPDX-License-Identifier: MIT */
#define TW_STATIC
#include "../../timingwheel.h"
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
