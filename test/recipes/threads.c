/* threads.c - threads post the timeouts of jobs to one loop, and the loop fires
 * the timers. on_end shows when a job may be freed.
 *     cc -std=gnu11 -Wall -Wextra -pthread threads.c -o threads && ./threads
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <pthread.h> /* and with it time.h */
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#define MS UINT64_C(1000000) /* all times are in nanoseconds */
static tw_mailbox mailbox;
static int jobs = 10; /* not ended yet; for the loop alone */
struct job {
    tw_remote timeout, end;
    pthread_t thread;
    bool is_late; /* for the loop alone */
};

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* A cancel that has been posted beats the timeout: after a stall it may not be
 * collected yet. */
static void on_timeout(timingwheel *tw, tw_timer *timer)
{
    struct job *job = TW_OWNER(timer, struct job, timeout.timer);
    (void)tw; /* a real program would tell the thread */
    job->is_late = tw_remote_settled(&job->timeout);
}

/* The last post, after the cancel: both are collected, nobody uses the job. */
static void on_end(timingwheel *tw, tw_timer *timer)
{
    struct job *job = TW_OWNER(timer, struct job, end.timer);
    (void)tw;
    pthread_join(job->thread, NULL);
    printf("%s, %d left\n", job->is_late ? "too late" : "in time", --jobs);
    free(job);
}

static void *work(void *argument)
{
    struct job *job = argument;
    tw_remote_init(&job->timeout, on_timeout);
    tw_remote_init(&job->end, on_end);
    tw_post_start(&mailbox, &job->timeout, tw_after(clock_ns(), 100 * MS));
    poll(NULL, 0, rand() % 200); /* the work */
    tw_post_cancel(&mailbox, &job->timeout);
    tw_post_start(&mailbox, &job->end, 0); /* at once */
    return NULL;
}

static void wake(void *fd) /* called in the thread that posts */
{
    eventfd_write(*(int *)fd, 1);
}

int main(void)
{
    struct pollfd input = {eventfd(0, EFD_NONBLOCK), POLLIN, 0};
    timingwheel timers;
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    tw_mailbox_init(&mailbox, &timers, wake, &input.fd);
    for (int i = 0; i < 10; i++) {
        struct job *job = calloc(1, sizeof(*job));
        if (job == NULL || pthread_create(&job->thread, NULL, work, job) != 0)
            return 1;
    }
    while (jobs > 0) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
        poll(&input, 1, (int)((wait + MS - 1) / MS));
        eventfd_read(input.fd, &wait); /* before tw_collect: later posts wake */
        tw_advance_clock(&timers, clock_ns());
        tw_collect(&mailbox);
    }
    tw_destroy(&timers);
}
