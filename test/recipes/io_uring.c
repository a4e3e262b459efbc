/* io_uring.c - timers in a loop around io_uring, with liburing.
 *
 * Says when you have not typed for 250 ms. One system call submits, waits, and
 * ends at the next deadline, in nanoseconds: nothing is rounded.
 *
 *     cc -std=gnu99 -Wall -Wextra io_uring.c -luring -o uring && ./uring
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <liburing.h>
#include <stdio.h>
#include <time.h>

#define MS UINT64_C(1000000) /* in nanoseconds */
#define SECOND (1000 * MS)

struct session {
    tw_timer silence;
    unsigned count;
};

/* Input that has come beats the timeout: after a stall its completion may still
 * be unseen. So the session gets one more turn, between whose two advances the
 * loop handles all completions. */
static void on_silence(timingwheel *tw, tw_timer *timer)
{
    struct session *s = TW_OWNER(timer, struct session, silence);
    if (tw_deadline(timer) > 0) {
        tw_start(tw, timer, 0); /* fires in the next turn, the second time */
        return;
    }
    dprintf(1, "silence %u\n", ++s->count);
}

static timingwheel timers;
static struct session session = {TW_TIMER_INIT(on_silence), 0};

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void start_reading(struct io_uring *ring)
{
    static char bytes[4096];
    io_uring_prep_read(io_uring_get_sqe(ring), 0, bytes, sizeof(bytes), 0);
}

int main(void)
{
    struct io_uring ring;
    bool is_open = true;
    if (io_uring_queue_init(8, &ring, 0) < 0)
        return 1; /* no io_uring in this kernel */
    start_reading(&ring);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    while (is_open || tw_count(&timers) > 0) {
        struct io_uring_cqe *done = NULL;
        uint64_t wait = tw_wait(&timers, clock_ns(), 60 * SECOND);
        struct __kernel_timespec most = {(long long)(wait / SECOND),
                                         (long long)(wait % SECOND)};
        io_uring_submit_and_wait_timeout(&ring, &done, 1, &most, NULL);
        while (io_uring_peek_cqe(&ring, &done) == 0) {
            is_open = done->res > 0;
            io_uring_cqe_seen(&ring, done);
            if (!is_open)
                break;
            tw_postpone_after(&timers, &session.silence, clock_ns(), 250 * MS);
            start_reading(&ring);
        }
        tw_advance_clock(&timers, clock_ns());
    }
    tw_destroy(&timers);
    io_uring_queue_exit(&ring);
    return 0;
}
