/* io_uring.c - timers in a loop around io_uring, with liburing.
 * Says when you have not typed for 250 ms. One system call submits, waits, and
 * ends at the next deadline, in nanoseconds: nothing is rounded. A callback
 * must not run the loop.
 *     cc -std=gnu99 -Wall -Wextra io_uring.c -luring -o uring && ./uring
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
#define SECOND (1000 * MS)
static timingwheel timers;
static struct io_uring ring;
static bool is_stopped;
static void on_completion(const struct io_uring_cqe *done);

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Returns false if this kernel has no io_uring. */
static bool init(void)
{
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    return io_uring_queue_init(8, &ring, 0) == 0;
}

/* Ends `run` after this turn. For callbacks and completions. */
static void stop(void)
{
    is_stopped = true;
}

static void run(void)
{
    for (is_stopped = false; !is_stopped;) {
        struct io_uring_cqe *done = NULL;
        uint64_t wait = tw_wait(&timers, clock_ns(), 60 * SECOND);
        struct __kernel_timespec most = {(long long)(wait / SECOND),
                                         (long long)(wait % SECOND)};
        io_uring_submit_and_wait_timeout(&ring, &done, 1, &most, NULL);
        while (io_uring_peek_cqe(&ring, &done) == 0) {
            on_completion(done);
            io_uring_cqe_seen(&ring, done);
        }
        tw_advance_clock(&timers, clock_ns());
    }
}

/* The example. Input that has come beats the timeout: after a stall its
 * completion may still be unseen. So the session gets one more turn, between
 * whose two advances the loop handles all completions. */
static tw_timer silence;
static bool is_closed;

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    static unsigned count;
    if (tw_deadline(timer) > 0) /* fires in the next turn, the second time */
        tw_start(tw, timer, 0);
    else if (dprintf(1, "silence %u\n", ++count), is_closed)
        stop();
}

/* Waits for input first: a read of a file that does not block would not. */
static void start_reading(void)
{
    static char bytes[4096];
    struct io_uring_sqe *wait = io_uring_get_sqe(&ring);
    io_uring_prep_poll_add(wait, 0, POLLIN);
    io_uring_sqe_set_data(wait, &ring);
    wait->flags |= IOSQE_IO_LINK;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    io_uring_prep_read(sqe, 0, bytes, sizeof(bytes), (__u64)-1);
    io_uring_sqe_set_data(sqe, NULL);
}

static void on_completion(const struct io_uring_cqe *done)
{
    if (io_uring_cqe_get_data(done) != NULL)
        return; /* the wait: the read follows */
    if (done->res > 0)
        tw_postpone_after(&timers, &silence, clock_ns(), 250 * MS);
    if (done->res > 0 || done->res == -EAGAIN || done->res == -EINTR) {
        start_reading();
        return;
    }
    is_closed = true;
    if (tw_count(&timers) == 0)
        stop();
}

int main(void)
{
    tw_timer_init(&silence, on_silence);
    if (!init())
        return 1;
    start_reading();
    run();
    tw_destroy(&timers);
    io_uring_queue_exit(&ring);
}
