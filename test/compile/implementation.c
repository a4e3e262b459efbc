/* implementation.c - the whole header.
 *
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
