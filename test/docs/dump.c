/* dump.c - the toy of HOW IT WORKS, drawn by tw_dump before and
 * after its cascade. examples.sh compares what this prints with what the manual
 * shows.
 *
 * SPDX-License-Identifier: MIT
 */
#define TWI_LARGE_TIMERS 2 /* where two timers are few */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <stdio.h>
#include <string.h>

/* What memory it takes differs between machines. */
static void print(const char *line, void *context)
{
    if (strncmp(line, "memory: ", 8) != 0)
        fprintf((FILE *)context, "%s\n", line);
}

int main(void)
{
    static const uint64_t deadlines[] = {1, 9, 10, 11, 13, 14};
    tw_config config = {0, 0, 4, 0, NULL};
    tw_timer timers[6];
    timingwheel tw;

    tw_init(&tw, &config);
    for (int i = 0; i < 6; i++) {
        tw_timer_init(&timers[i], NULL);
        tw_start(&tw, &timers[i], deadlines[i]);
    }
    tw_advance_clock(&tw, 1);
    tw_dump(&tw, print, stdout);
    tw_advance_clock(&tw, 9);
    tw_dump(&tw, print, stdout);
    tw_destroy(&tw);
    return 0;
}
