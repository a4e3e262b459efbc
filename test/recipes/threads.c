/* threads.c - one epoll loop keeps the time-outs of worker threads. The workers
 * start and cancel timers through a mailbox. An eventfd wakes the loop.
 *
 *     cc -std=c11 -pthread threads.c -o threads && ./threads
 *
 * The example: the jobs of four workers; every tenth job is too slow.
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_THREADS
#define MS UINT64_C(1000000)
#include "judge.h"
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define WORKERS 4
#define JOBS 50 /* of each worker */

struct worker {
    tw_remote timeout; /* of the worker's job */
    tw_remote end;     /* started for "at once" when the worker ends */
    pthread_t thread;
};

static tw_mailbox mailbox;
static int running = WORKERS; /* used by the loop alone */

static void *work(void *argument)
{
    struct worker *me = (struct worker *)argument;
    struct timespec quick = {0, (long)MS / 2}, slow = {0, 60 * (long)MS};
    for (int job = 1; job <= JOBS; job++) {
        tw_post_start(&mailbox, &me->timeout,
                      tw_after(system_clock(), 20 * MS));
        nanosleep(job % 10 == 0 ? &slow : &quick, NULL);
        tw_post_cancel(&mailbox, &me->timeout);
    }
    tw_post_start(&mailbox, &me->end, 0);
    return NULL;
}

static void on_timeout(timingwheel *tw, tw_timer *timer)
{
    judge.fired++; /* a real program tells the worker to give up */
    judge.early += tw_now(tw) < tw_deadline(timer);
}

static void on_end(timingwheel *tw, tw_timer *timer)
{
    (void)tw, (void)timer;
    running--;
}

static void wake(void *context)
{
    (void)!write(*(int *)context, &(uint64_t){1}, sizeof(uint64_t));
}

int main(void)
{
    static struct worker workers[WORKERS];
    int woken = eventfd(0, EFD_NONBLOCK), epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, woken, &event);
    now = read_clock();
    tw_init(&wheel, &(tw_config){.tick = MS, .start = now});
    tw_mailbox_init(&mailbox, &wheel, wake, &woken);
    for (struct worker *w = workers; w < workers + WORKERS; w++) {
        tw_remote_init(&w->timeout, on_timeout);
        tw_remote_init(&w->end, on_end);
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            return 1;
    }
    for (size_t waiting = 0; running > 0;) {
        uint64_t longest = waiting > 0 ? 10 * MS : 60000 * MS;
        uint64_t wait = tw_wait(&wheel, now, longest);
        if (epoll_wait(epoll, &event, 1, (int)((wait + MS - 1) / MS)) > 0)
            (void)!read(woken, &wait, sizeof(wait)); /* before tw_collect */
        now = read_clock();
        tw_advance_clock(&wheel, now);
        waiting = tw_collect(&mailbox);
    }
    for (struct worker *w = workers; w < workers + WORKERS; w++)
        pthread_join(w->thread, NULL);
    return judge_end("threads", judge.fired > 0 && tw_collect(&mailbox) == 0);
}
