/* io_uring.c - timingwheel.h in a loop around io_uring, with liburing.
 *
 * Submitting, waiting and the time-out of the wait are one system call per
 * turn. The time-out is in nanoseconds, like the clock, and needs no rounding.
 * With a tick of 1 ms, timers due at about the same time share a wake-up.
 *
 *     cc io_uring.c -luring -o uring && ./uring     (the example is in judge.h)
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#include "judge.h"
#include <liburing.h>

static void start_reading(struct io_uring *ring, int input)
{
    static char byte;
    io_uring_prep_read(io_uring_get_sqe(ring), input, &byte, 1, 0);
}

int main(void)
{
    struct io_uring ring;
    int input = judge_input();
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now, .tick = MS});
    if (io_uring_queue_init(8, &ring, 0) < 0)
        return 1;
    start_reading(&ring, input);
    while (judge_turn()) {
        struct io_uring_cqe *end = NULL;
        uint64_t wait = tw_wait(&wheel, now, 60 * SECOND);
        struct __kernel_timespec most = {(long long)(wait / SECOND),
                                         (long long)(wait % SECOND)};
        io_uring_submit_and_wait_timeout(&ring, &end, 1, &most, NULL);
        now = read_clock();
        tw_advance_clock(&wheel, now);
        if (end == NULL)
            continue;
        judge_event();
        io_uring_cqe_seen(&ring, end);
        start_reading(&ring, input);
    }
    io_uring_queue_exit(&ring);
    return judge_end("io_uring", true);
}
