/* threads_lock.c - a processor whose atomics take a lock. Must be refused.
 *
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#undef ATOMIC_LLONG_LOCK_FREE
#define ATOMIC_LLONG_LOCK_FREE 1
#define TIMINGWHEEL_THREADS
#include "../../timingwheel.h"
