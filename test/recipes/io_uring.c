/* io_uring.c - timingwheel.h in a loop around io_uring, with liburing.
 *
 * Submitting, waiting and the time-out of the wait are one system call per
 * turn. The time-out is in nanoseconds, like the clock, and needs no rounding.
 * With a tick of 1 ms, timers due at about the same time share a wake-up.
 *
 * The example: a child writes a byte every 20 ms. Each byte starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`; every fifth
 * cancels it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <liburing.h>
#include <stdio.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

static timingwheel wheel;
static uint64_t now; /* as read in this turn */
static struct io_uring ring;
static char byte;
static int input;
static int bytes, pending, fired, early, late, idle;

static uint64_t read_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t reading = (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
    return reading > now ? reading : now;
}

static void start_reading(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    io_uring_prep_read(entry, input, &byte, 1, 0);
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += now < tw_deadline(timer);
    late += now > tw_deadline(timer) + 9 * MS;
}

static void on_read(const struct io_uring_cqe *end)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    if (end->res == 1) /* 0: end of file */
        start_reading();
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(now, 2 * MS));
    tw_postpone(&wheel, &silence, tw_after(now, 150 * MS));
    if (++bytes % 5 == 0)
        pending -= tw_cancel(&wheel, &silence);
}

int main(void)
{
    FILE *child = popen("for i in $(seq 19); do sleep .02; echo; done", "r");
    tw_config config = {.start = now = read_clock(), .tick = MS};
    if (child == NULL || tw_init(&wheel, &config) != TW_OK ||
        io_uring_queue_init(8, &ring, 0) < 0)
        return 1;
    input = fileno(child);
    start_reading();
    while (bytes < 20 || tw_count(&wheel) > 0) {
        struct io_uring_cqe *end = NULL;
        uint64_t wait = tw_wait(&wheel, now, 60 * SECOND);
        struct __kernel_timespec timeout = {(long long)(wait / SECOND),
                                            (long long)(wait % SECOND)};
        io_uring_submit_and_wait_timeout(&ring, &end, 1, &timeout, NULL);
        now = read_clock();
        if (end != NULL) {
            on_read(end);
            io_uring_cqe_seen(&ring, end);
        }
        size_t count = tw_advance_clock(&wheel, now);
        idle += end == NULL && count == 0;
    }
    io_uring_queue_exit(&ring);
    tw_destroy(&wheel);
    printf("io_uring: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, pending, late, idle);
    return (pclose(child) || early || pending || late > 10) + 2 * (idle > 10);
}
