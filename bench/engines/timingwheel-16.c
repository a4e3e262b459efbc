/* SPDX-License-Identifier: MIT
 *
 * timingwheel-16.c - the engine "timingwheel.h-16": a wheel_size of 16.
 */
#define WHEEL_SIZE 16
#define ENGINE_NAME "timingwheel.h-16"
#define ENGINE_WHAT "this library, with a wheel_size of 16"

#include "timingwheel.c"
