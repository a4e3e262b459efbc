/* SPDX-License-Identifier: MIT
 *
 * wheel_late.c - the engine "wheel-late": timingwheel.h, but no bucket is
 * cascaded ahead of time.
 */
#define _POSIX_C_SOURCE 200809L

#define TWI_BATCH UINT32_MAX /* chunks, so that no batch is ever due */
#define ENGINE_NAME "wheel-late"
#define ENGINE_WHAT "timingwheel.h, no bucket cascaded ahead of time"

#include "wheel.h"
