/* user.c - a program that fires one timer.
 *
 * SPDX-License-Identifier: MIT */
#include "../../timingwheel.h"

int main(void)
{
    timingwheel tw;
    tw_timer timer = TW_TIMER_INIT(NULL);
    tw_init(&tw, NULL);
    if (tw_start(&tw, &timer, 5) != TW_OK)
        return 1;
    size_t fired = tw_advance_clock(&tw, 5);
    tw_destroy(&tw);
    return fired != 1;
}
