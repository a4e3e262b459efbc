/* pause.c - runs the lines that the manual shows for pauses, one after the
 * other: first the whole wheel pauses for 500 ms, then one timer for 300 ms.
 * test/docs/examples.sh writes the lines to header-pause.inc.
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

static uint64_t readings[] = {1000, 1500, 1500};
static size_t reading;

static uint64_t clock_ms(void)
{
    return readings[reading++];
}

int main(void)
{
    timingwheel wheel, *tw = &wheel;
    tw_timer one = TW_TIMER_INIT(NULL), *timer = &one;
    uint64_t pause_began, paused = 0, left, now = 1000;
    tw_config config = {1, 1000, 0, 0, NULL};
    if (tw_init(tw, &config) != TW_OK ||
        tw_start(tw, timer, tw_after(now, 40)) != TW_OK)
        return 1;
#include "header-pause.inc"
    /* now is still 1000: the wheel has not seen the pause of 500. */
    if (paused != 500 || left != 40 || tw_deadline(timer) != 1040)
        return 1;
    now = 1500 - paused + 39;
    if (tw_advance_clock(tw, now) != 0 || tw_advance_clock(tw, now + 1) != 1)
        return 1;
    tw_destroy(tw);
    return 0;
}
