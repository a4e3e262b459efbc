/* poll.c - timingwheel.h in a loop around poll, on any POSIX system.
 *
 * The loop reads the clock once per turn, right after the sleep, and advances
 * the wheel before the events. Delays count from the reading. A wheel whose
 * clock is behind would place a timer too far ahead, and move it once more.
 *
 * The clock counts milliseconds, as poll does, so that no wait needs rounding.
 * In a finer unit, round the wait up: rounded down, the loop spins.
 *
 *     cc poll.c && ./a.out
 *
 * judge.h has the wheel, the clock and the example of this and other recipes.
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define MS 1
#include "judge.h"
#include <poll.h>

int main(void)
{
    struct pollfd input = {judge_input(), POLLIN, 0};
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now});
    while (judge_turn()) {
        int ready = poll(&input, 1, (int)tw_wait(&wheel, now, 60000));
        now = read_clock();
        tw_advance_clock(&wheel, now);
        if (ready > 0)
            judge_read(input.fd);
    }
    return judge_end("poll", true);
}
