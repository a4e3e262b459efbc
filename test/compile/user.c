/* user.c - a program, in C90 and in C++, that fires one timer; with
 * TIMINGWHEEL_THREADS, one timer that was posted. The functions of the header
 * may be in another file. gates.sh compiles and runs the program.
 *
 * SPDX-License-Identifier: MIT */
#include "timingwheel.h"

struct owner {
    int before;
    tw_timer timer, more[2];
};

/* TW_OWNER, with and without const. */
static const struct owner *owner_of(const tw_timer *timer)
{
    return TW_OWNER(timer, const struct owner, timer);
}

static const struct owner *view_of(tw_timer *timer)
{
    return TW_OWNER(timer, const struct owner, timer);
}

static int starts(timingwheel *tw, tw_timer *timer)
{
    return tw_start(tw, timer, 5) == TW_OK && tw_advance_clock(tw, 5) == 1;
}

static int posts(timingwheel *tw)
{
#ifdef TIMINGWHEEL_THREADS
    tw_mailbox box;
    tw_remote remote;
    tw_mailbox_init(&box, tw, NULL, NULL);
    tw_remote_init(&remote, NULL);
    tw_post_start(&box, &remote, 7);
    return tw_collect(&box) + tw_advance_clock(tw, 7) == 1 &&
           tw_remote_settled(&remote);
#else
    return tw != NULL;
#endif
}

int main(void)
{
    timingwheel tw;
    struct owner owner = {
        0, TW_TIMER_INIT(NULL), {TW_TIMER_INIT(NULL), TW_TIMER_INIT(NULL)}};
    tw_timer *timer = &owner.timer;
    int good;
    tw_init(&tw, NULL);
    good = starts(&tw, timer) && posts(&tw) && owner_of(timer) == &owner &&
           view_of(timer) == &owner &&
           TW_OWNER(timer, struct owner, timer) == &owner &&
           TW_OWNER(&owner.more[1], struct owner, more[1]) == &owner;
    tw_destroy(&tw);
    return !good;
}
