/* dump.c - the toy of HOW IT WORKS, drawn by tw_dump. examples.sh compares the
 * output with the manual.
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <stdio.h>
#include <string.h>

/* The bytes of memory differ between machines. */
static void print(const char *line, void *context)
{
    if (strncmp(line, "memory: ", 8) != 0)
        fprintf((FILE *)context, "%s\n", line);
}

int main(void)
{
    static const uint64_t deadlines[] = {1, 9, 11, 13, 14};
    static tw_timer timers[5];
    tw_config config = {0, 0, 4, 0, NULL};
    timingwheel tw;

    tw_init(&tw, &config);
    for (int i = 0; i < 5; i++)
        tw_start(&tw, &timers[i], deadlines[i]);
    tw_advance_clock(&tw, 1);
    tw_dump(&tw, print, stdout);
    tw_advance_clock(&tw, 9);
    tw_dump(&tw, print, stdout);
    tw_destroy(&tw);
    return 0;
}
