/* twice.c - the declarations first, then the implementation.
 *
 * SPDX-License-Identifier: MIT */
#include "../../timingwheel.h"
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
