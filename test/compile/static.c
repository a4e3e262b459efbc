/* static.c - static functions.
 *
 * SPDX-License-Identifier: MIT */
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
