/* condvar.c - a thread of timers, which any thread may start and cancel.
 *     cc -std=gnu11 -O2 -Wall -pthread condvar.c -o condvar && ./condvar
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <pthread.h> /* and with it time.h */
#include <stdio.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
#define SECOND (1000 * MS)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the timers */
static pthread_cond_t changed; /* for the thread, and for `cancel` */
static timingwheel timers;
static uint64_t wakes_at; /* when the thread wakes by itself */
static tw_timer *running; /* whose callback runs, or NULL */
static unsigned timeouts;
static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void start(tw_timer *timer, uint64_t delay)
{
    pthread_mutex_lock(&lock);
    tw_start_after(&timers, timer, clock_ns(), delay);
    if (tw_deadline(timer) < wakes_at) /* it is the next one */
        pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Waits for the callback to return: afterwards the timer may be freed. Hold no
 * lock that the callback takes. Not for the timer whose callback calls this. */
static void cancel(tw_timer *timer)
{
    pthread_mutex_lock(&lock);
    while (running == timer)
        pthread_cond_wait(&changed, &lock);
    tw_cancel(&timers, timer); /* the callback may have started it */
    pthread_mutex_unlock(&lock);
}

static void *run_timers(void *unused)
{
    pthread_mutex_lock(&lock);
    while (unused == NULL) { /* for ever */
        while ((running = tw_poll(&timers, clock_ns())) != NULL) {
            pthread_mutex_unlock(&lock); /* the callback may start timers */
            running->callback(&timers, running);
            pthread_mutex_lock(&lock);
            pthread_cond_broadcast(&changed);
        }
        wakes_at = tw_after(clock_ns(), 3600 * SECOND);
        tw_next_deadline(&timers, &wakes_at);
        struct timespec t = {.tv_sec = (time_t)(wakes_at / SECOND),
                             .tv_nsec = (long)(wakes_at % SECOND)};
        pthread_cond_timedwait(&changed, &lock, &t);
    }
    return unused;
}

/* Runs without the lock, so it calls `start` above, and never tw_start. */
static void on_timeout(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    timeouts++;       /* no other thread calls back */
    poll(NULL, 0, 1); /* what is slow does not hold the lock */
    start(timer, 4 * MS);
}

static void *work(void *unused)
{
    for (int i = 0; i < 200; i++) {
        tw_timer timeout = TW_TIMER_INIT(on_timeout);
        start(&timeout, (i % 2 ? 4 : 40) * MS);
        poll(NULL, 0, i % 10); /* the work */
        cancel(&timeout);      /* from here on it is no longer there */
    }
    return unused;
}

int main(void)
{
    pthread_t thread, worker;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &monotonic);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    pthread_create(&thread, NULL, run_timers, NULL);
    pthread_create(&worker, NULL, work, NULL);
    work(NULL);
    pthread_join(worker, NULL);
    printf("400 jobs, %u timeouts\n", timeouts);
}
