/* owner.c - TW_OWNER, with and without const.
 *
 * SPDX-License-Identifier: MIT */
#include "../../timingwheel.h"

struct owner {
    int before;
    tw_timer timer;
};

struct owner *owner_of(tw_timer *timer);
struct owner *owner_of(tw_timer *timer)
{
    return TW_OWNER(timer, struct owner, timer);
}

const struct owner *constant_owner_of(const tw_timer *timer);
const struct owner *constant_owner_of(const tw_timer *timer)
{
    return TW_OWNER(timer, const struct owner, timer);
}

const struct owner *constant_view_of(tw_timer *timer);
const struct owner *constant_view_of(tw_timer *timer)
{
    return TW_OWNER(timer, const struct owner, timer);
}
