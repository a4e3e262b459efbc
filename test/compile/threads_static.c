/* threads_static.c - static functions, with the mailbox.
 *
 * SPDX-License-Identifier: MIT */
#define TW_STATIC
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
