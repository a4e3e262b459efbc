/* kqueue.c - timingwheel.h in a loop around kqueue, for BSD and macOS.
 *
 * The sleep is the time-out of kevent, in nanoseconds: no wait is rounded. An
 * EVFILT_TIMER would cost a change per deadline, and its units and its clock
 * differ from system to system. A tick of 50 us saves wake-ups. A feature macro
 * such as _POSIX_C_SOURCE would hide kqueue. No run on BSD or macOS was made:
 * the tests run this file on Linux, on the stand-in of stand_in/kqueue.c.
 *
 * The example is in judge.h.
 *
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <sys/types.h>
#include <sys/event.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define SOON (MS / 5)
static uint64_t now; /* the reading of this turn, in nanoseconds */
#include "judge.h"

/* Starts or stops to watch `fd`: `action` is EV_ADD or EV_DELETE. */
static void watch(int queue, int fd, unsigned short action)
{
    struct kevent change;
    EV_SET(&change, (unsigned)fd, EVFILT_READ, action, 0, 0, NULL);
    if (kevent(queue, &change, 1, NULL, 0, NULL) != 0)
        exit(1);
}

int main(void)
{
    timingwheel tw;
    int queue = kqueue(), input = judge_input();
    tw_config config = {.start = now = read_clock(), .tick = MS / 20};
    if (queue < 0 || tw_init(&tw, &config) != TW_OK)
        return 1;
    watch(queue, input, EV_ADD);
    while (judge_turn(&tw)) {
        struct kevent event;
        uint64_t wait = tw_wait(&tw, now, 60 * SECOND);
        struct timespec most = {(time_t)(wait / SECOND), (long)(wait % SECOND)};
        int ready = kevent(queue, NULL, 0, &event, 1, &most);
        now = read_clock();
        tw_advance_clock(&tw, now);
        if (ready > 0 && !judge_read(&tw, (int)event.ident))
            watch(queue, input, EV_DELETE); /* the end of the input */
    }
    tw_destroy(&tw);
    return judge_end("kqueue", true);
}
