/* SPDX-License-Identifier: MIT
 *
 * wheel.c - the engine "wheel": timingwheel.h itself.
 */
#define _POSIX_C_SOURCE 200809L

#define ENGINE_NAME "wheel"
#define ENGINE_WHAT "timingwheel.h"

#include "wheel.h"
