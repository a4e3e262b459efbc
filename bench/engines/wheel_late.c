/* SPDX-License-Identifier: MIT
 *
 * wheel_late.c - the engine "wheel-late": timingwheel.h, but no bucket is
 * cascaded ahead of time.
 */
#define _POSIX_C_SOURCE 200809L

#define TWI_LARGE UINT32_MAX /* timers; no bucket is so large */
#define ENGINE_NAME "wheel-late"
#define ENGINE_WHAT "timingwheel.h, no bucket cascaded ahead of time"

#include "wheel.h"
