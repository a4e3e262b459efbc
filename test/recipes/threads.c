/* threads.c - one epoll loop keeps the time-outs of worker threads. The workers
 * start and cancel timers through a mailbox. An eventfd wakes the loop.
 *
 *     cc -std=c11 -pthread threads.c -o threads && ./threads
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 4
#define JOBS 50 /* of each worker; every tenth is too slow */
#define MS UINT64_C(1000000)

struct worker {
    tw_remote timeout; /* of the worker's job */
    tw_remote end;     /* started for "at once" when the worker ends */
    pthread_t thread;
};

static timingwheel tw;
static tw_mailbox mailbox;
static struct worker workers[WORKERS];
static int running = WORKERS, timed_out; /* used by the loop alone */

static uint64_t read_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void *work(void *argument)
{
    struct worker *me = (struct worker *)argument;
    struct timespec quick = {0, (long)MS / 2}, slow = {0, 60 * (long)MS};
    for (int job = 1; job <= JOBS; job++) {
        tw_post_start(&mailbox, &me->timeout, tw_after(read_clock(), 20 * MS));
        nanosleep(job % 10 == 0 ? &slow : &quick, NULL);
        tw_post_cancel(&mailbox, &me->timeout);
    }
    tw_post_start(&mailbox, &me->end, 0);
    return NULL;
}

static void on_timeout(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer; /* a real program tells the worker to give up */
    timed_out++;
}

static void on_end(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    running--;
}

static void wake(void *context)
{
    (void)!write(*(int *)context, &(uint64_t){1}, sizeof(uint64_t));
}

int main(void)
{
    tw_config config = {.tick = MS, .start = read_clock()};
    int woken = eventfd(0, EFD_NONBLOCK), epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (tw_init(&tw, &config) != TW_OK ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, woken, &event) != 0)
        return 1;
    tw_mailbox_init(&mailbox, &tw, wake, &woken);
    for (struct worker *w = workers; w < workers + WORKERS; w++) {
        tw_remote_init(&w->timeout, on_timeout);
        tw_remote_init(&w->end, on_end);
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            return 1;
    }
    for (size_t waiting = 0; running > 0;) {
        uint64_t longest = waiting > 0 ? 10 * MS : 60000 * MS;
        uint64_t wait = tw_wait(&tw, read_clock(), longest);
        if (epoll_wait(epoll, &event, 1, (int)((wait + MS - 1) / MS)) > 0)
            (void)!read(woken, &wait, sizeof(wait)); /* before tw_collect */
        tw_advance_clock(&tw, read_clock());
        waiting = tw_collect(&mailbox);
    }
    for (struct worker *w = workers; w < workers + WORKERS; w++)
        pthread_join(w->thread, NULL);
    tw_destroy(&tw);
    bool is_right = timed_out > 0 && tw_collect(&mailbox) == 0;
    printf("%s 1 - threads: %d of %d jobs timed out\n",
           is_right ? "ok" : "not ok", timed_out, WORKERS * JOBS);
    return !is_right;
}
