/* static_types.c - TW_STATIC without the implementation gives the types.
 *
 * SPDX-License-Identifier: MIT */
#define TW_STATIC
#include "../../timingwheel.h"

struct host {
    timingwheel timeouts;
    tw_timer idle;
};
extern struct host host;
