/* c90_user.c - a program of C90. The code of the header is another file.
 *
 * SPDX-License-Identifier: MIT */
#include "../../timingwheel.h"

static tw_timer timer = TW_TIMER_INIT(NULL);

int main(void)
{
    timingwheel tw;
    tw_init(&tw, NULL);
    if (tw_start(&tw, &timer, 5) != TW_OK)
        return 1;
    return tw_advance_clock(&tw, 5) != 1 ||
           TW_OWNER(&timer, tw_timer, place) != &timer;
}
