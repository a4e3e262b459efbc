/* host_names.c - a host whose global names are those of common words, which
 * stand before the whole header. -Wshadow reports a variable of the header that
 * has the name of a type, a variable or a function of the host.
 *
 * SPDX-License-Identifier: MIT */
#ifdef HOST_VARIABLES
#define NAME(name) extern int name
#elif defined(HOST_FUNCTIONS)
#define NAME(name) int name(int)
#else
#define NAME(name) typedef unsigned name
#endif

NAME(bit);
NAME(count);
NAME(index);
NAME(list);
NAME(memory);
NAME(now);
NAME(step);

#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
