/* dump.c - the toy under "How it works" in the manual, drawn by tw_dump.
 * examples.sh compares the output with the manual.
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <stdio.h>

static void print(const char *line, void *context)
{
    fprintf((FILE *)context, "%s\n", line);
}

int main(void)
{
    static const uint64_t deadlines[] = {1, 9, 11, 13, 14};
    tw_config config = {0, 0, 4, 0, NULL};
    tw_timer timers[5];
    timingwheel tw;

    tw_init(&tw, &config);
    for (int i = 0; i < 5; i++) {
        tw_timer_init(&timers[i], NULL);
        tw_start(&tw, &timers[i], deadlines[i]);
    }
    tw_advance_clock(&tw, 1);
    tw_dump(&tw, print, stdout);
    tw_destroy(&tw);
    return 0;
}
