/* toy.c - wheels for test/gdb/gdb.sh to look at; it stops in `look`.
 *
 * SPDX-License-Identifier: MIT
 */
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <string.h>

#define MANY 40

static timingwheel toy, large, firing, destroyed;
static tw_timer timers[8], many[MANY], sorted[3], idle, broken;

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    (void)timer;
}

/* Where the debugger stops. */
static void look(void)
{
    static volatile int looks;
    looks++;
}

int main(void)
{
    static const uint64_t deadlines[] = {1, 9, 10, 11, 13, 14};
    tw_config config = {0, 0, 4, 0, NULL};
    tw_init(&toy, &config);
    tw_init(&large, NULL);
    tw_init(&firing, &config);
    tw_init(&destroyed, NULL);
    tw_destroy(&destroyed);
    for (int i = 0; i < 6; i++) {
        tw_timer_init(&timers[i], on_fire);
        tw_start(&toy, &timers[i], deadlines[i]);
    }
    tw_advance_clock(&toy, 4);
    tw_cancel(&toy, &timers[3]);
    tw_start(&toy, &timers[6], 9);
    for (int i = 0; i < MANY; i++)
        tw_start(&large, &many[i], 70000);
    tw_advance_clock(&large, 70000); /* used chunks hold what they held */
    for (int i = 0; i < MANY / 2; i++)
        tw_start(&large, &many[i], 210000);
    tw_cancel(&large, &many[5]);
    tw_start(&large, &timers[7], 0); /* overdue, without a callback */
    for (uint64_t i = 0; i < 3; i++) {
        tw_timer_init(&sorted[i], on_fire);
        tw_start(&firing, &sorted[i], 9 + i);
    }
    tw_advance_clock(&firing, 9);
    tw_timer_init(&idle, NULL);
    memset(&broken.place, 0xee, sizeof broken.place);
    look();
    return 0;
}
