/* static_late.c - TW_STATIC after the functions were declared.
 * Must be refused: the functions would be exported.
 *
 * SPDX-License-Identifier: MIT */
#include "../../timingwheel.h"
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
