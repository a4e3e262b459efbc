/* SPDX-License-Identifier: MIT
 *
 * engine_wheel.c - the bench's engine "wheel": timingwheel.h itself.
 */
#define _POSIX_C_SOURCE 200809L

#define ENGINE_TABLE bench_wheel
#define ENGINE_NAME "wheel"
#define ENGINE_WHAT "timingwheel.h"

#include "engine_wheel.h"
