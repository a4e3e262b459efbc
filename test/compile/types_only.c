/* types_only.c - the types in a header of the host, then static functions.
 * The prototype below differs from the function of the library: the file
 * compiles only if TW_TYPES_ONLY gives no prototypes.
 *
 * SPDX-License-Identifier: MIT */
#define TW_TYPES_ONLY
#include "../../timingwheel.h"

struct host {
    timingwheel timeouts;
    tw_timer idle;
};

#ifdef OTHER_PROTOTYPE
double tw_start(struct host *host);
#else
#undef TW_TYPES_ONLY
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

int start_idle(struct host *host, uint64_t deadline);
int start_idle(struct host *host, uint64_t deadline)
{
    return tw_start(&host->timeouts, &host->idle, deadline);
}
#endif
