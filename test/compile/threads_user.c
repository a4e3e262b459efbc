/* threads_user.c - a program that posts one start.
 *
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_THREADS
#include "../../timingwheel.h"

int main(void)
{
    timingwheel tw;
    tw_mailbox box;
    tw_remote remote;
    tw_init(&tw, NULL);
    tw_mailbox_init(&box, &tw, NULL, NULL);
    tw_remote_init(&remote, NULL);
    tw_post_start(&box, &remote, 5);
    size_t fired = tw_collect(&box) + tw_advance_clock(&tw, 5);
    tw_destroy(&tw);
    return fired != 1 || !tw_remote_settled(&remote);
}
