/* thrice.c - included again after the implementation.
 *
 * SPDX-License-Identifier: MIT */
#include "../../timingwheel.h"
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include "../../timingwheel.h"
