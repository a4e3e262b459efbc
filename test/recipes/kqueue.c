/* kqueue.c - timingwheel.h in a loop around kqueue, for BSD and macOS.
 *
 * The sleep is the time-out of kevent, in nanoseconds: no wait is rounded. An
 * EVFILT_TIMER would cost a change per deadline, and its units and its clock
 * differ from system to system. A tick of 50 us saves wake-ups. A feature macro
 * such as _POSIX_C_SOURCE would hide kqueue. No run on BSD or macOS was made:
 * the tests run this file on Linux, on the stand-in of stand_in/sys/event.h.
 *
 * The example is in judge.h.
 *
 * SPDX-License-Identifier: MIT */
#include <sys/types.h>
#include <sys/event.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define SOON (MS / 5)
#include "judge.h"

int main(void)
{
    int queue = kqueue(), input = judge_input();
    struct kevent event;
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now, .tick = MS / 20});
    EV_SET(&event, (unsigned)input, EVFILT_READ, EV_ADD, 0, 0, NULL);
    if (kevent(queue, &event, 1, NULL, 0, NULL) != 0)
        return 1;
    while (judge_turn()) {
        uint64_t wait = tw_wait(&wheel, now, 60 * SECOND);
        struct timespec most = {(time_t)(wait / SECOND), (long)(wait % SECOND)};
        int ready = kevent(queue, NULL, 0, &event, 1, &most);
        now = read_clock();
        tw_advance_clock(&wheel, now);
        if (ready > 0)
            judge_read((int)event.ident);
    }
    return judge_end("kqueue", true);
}
