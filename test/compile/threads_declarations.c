/* threads_declarations.c - the declarations alone, with the mailbox.
 *
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_THREADS
#include "../../timingwheel.h"
