/* threads.c - the whole header, with the mailbox.
 *
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
