/* SPDX-License-Identifier: MIT
 *
 * timingwheel-1024.c - the engine "timingwheel.h-1024": a wheel_size of 1,024.
 */
#define WHEEL_SIZE 1024
#define ENGINE_NAME "timingwheel.h-1024"
#define ENGINE_WHAT "this library, with a wheel_size of 1,024"

#include "timingwheel.c"
