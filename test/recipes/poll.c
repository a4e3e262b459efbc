/* poll.c - timingwheel.h in a loop around poll, on any POSIX system.
 *
 * The loop reads the clock once per turn, right after the sleep, and advances
 * the wheel before the events. Delays count from the reading. A wheel whose
 * clock is behind would place a timer too far ahead, and move it once more.
 *
 * The clock counts milliseconds, as poll does, so that no wait needs rounding.
 * In a finer unit, round the wait up: rounded down, the loop spins.
 *
 *     cc poll.c && ./a.out      (judge.h has the example and the clock)
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <poll.h>

#define MS 1
static uint64_t now; /* the reading of this turn, in milliseconds */
#include "judge.h"

int main(void)
{
    timingwheel tw;
    struct pollfd input = {judge_input(), POLLIN, 0};
    now = read_clock();
    if (tw_init(&tw, &(tw_config){.start = now}) != TW_OK)
        return 1;
    while (judge_turn(&tw)) {
        int ready = poll(&input, 1, (int)tw_wait(&tw, now, 60000));
        now = read_clock();
        tw_advance_clock(&tw, now);
        if (ready > 0 && !judge_read(&tw, input.fd))
            input.fd = -1; /* the end of the input */
    }
    tw_destroy(&tw);
    return judge_end("poll", true);
}
