/* jobs.c - threads reuse jobs; each request ends once, answered or timed out.
 *     cc -std=gnu11 -O2 -Wall -Wextra -pthread jobs.c -o jobs && ./jobs
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <pthread.h> /* and with it time.h */
#include <stdatomic.h>
#include <stdio.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
enum { WORKERS = 2, JOBS = 1000, REQUESTS = 100000 };
/* `open` is the deadline of the open request, or 0. Whoever exchanges it for 0
 * has ended the request. */
static struct job {
    tw_remote timeout;
    _Atomic uint64_t open;
} jobs[WORKERS * JOBS];
static tw_mailbox mailbox;
static atomic_ulong answered, timed_out, working = WORKERS;
static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static bool end(struct job *job, uint64_t deadline)
{
    return deadline != 0 &&
           atomic_compare_exchange_strong(&job->open, &deadline, 0);
}

/* A firing of an earlier start has another deadline, and ends nothing. */
static void on_timeout(timingwheel *tw, tw_timer *timer)
{
    struct job *job = TW_OWNER(timer, struct job, timeout.timer);
    (void)tw;
    timed_out += end(job, tw_deadline(timer));
}

static void *work(void *argument)
{
    for (unsigned i = 0, sent = 0; sent < REQUESTS; i++) {
        struct job *job = (struct job *)argument + i % JOBS;
        uint64_t open = job->open;
        /* Every eighth job gets no answer, the others about at the deadline. */
        if (i % 8 != 0 && open + i % 3 * MS < clock_ns())
            answered += end(job, open);
        if (job->open == 0) { /* else it will time out */
            uint64_t deadline = tw_after(clock_ns(), 9 * MS);
            job->open = deadline; /* before the post */
            tw_post_start(&mailbox, &job->timeout, deadline);
            sent++;
        }
    }
    working--;
    return NULL;
}

int main(void)
{
    timingwheel tw;
    pthread_t threads[WORKERS];
    tw_init(&tw, &(tw_config){.tick = MS, .start = clock_ns()});
    tw_mailbox_init(&mailbox, &tw, NULL, NULL); /* the loop wakes each ms */
    for (int i = 0; i < WORKERS * JOBS; i++)
        tw_remote_init(&jobs[i].timeout, on_timeout);
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, work, &jobs[i * JOBS]) != 0)
            return 1;
    for (bool busy = true; busy || tw_count(&tw) > 0;) {
        poll(NULL, 0, 1);
        busy = working > 0; /* before tw_collect, which finds the last post */
        tw_advance_clock(&tw, clock_ns());
        tw_collect(&mailbox);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%lu answered, %lu timed out\n", answered, timed_out);
    tw_destroy(&tw);
    return answered + timed_out != WORKERS * REQUESTS;
}
