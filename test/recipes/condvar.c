/* condvar.c - a thread of timers, which any thread may start and cancel. One
 * thread alone may `run`: with a second one, `cancel` would wait for the wrong
 * callback. So a callback cannot run the loop either.
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
static bool stopped;
static unsigned timeouts; /* in the example: only the one thread calls back */
static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void init(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &monotonic);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
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
    while (tw_cancel(&timers, timer), running == timer) /* it may start again */
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* For any thread, and for callbacks. Then join the thread. */
static void stop(void)
{
    pthread_mutex_lock(&lock);
    stopped = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *run(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!stopped) /* looked at with the lock, which the wait gives up */
        if ((running = tw_poll(&timers, clock_ns())) != NULL) {
            pthread_mutex_unlock(&lock); /* the callback may start timers */
            running->callback(&timers, running);
            pthread_mutex_lock(&lock);
            running = NULL;
            pthread_cond_broadcast(&changed);
        } else {
            wakes_at = tw_after(clock_ns(), 3600 * SECOND);
            tw_next_deadline(&timers, &wakes_at);
            struct timespec t = {(time_t)(wakes_at / SECOND),
                                 (long)(wakes_at % SECOND)};
            pthread_cond_timedwait(&changed, &lock, &t);
        }
    stopped = false; /* it may run again */
    pthread_mutex_unlock(&lock);
    return unused;
}

/* The example. Runs without the lock, so it calls `start`, never tw_start. */
static void on_timeout(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    timeouts++, poll(NULL, 0, 1); /* what is slow does not hold the lock */
    start(timer, 4 * MS);
}

int main(void)
{
    pthread_t thread;
    init();
    pthread_create(&thread, NULL, run, NULL);
    for (int i = 0; i < 400; i++) {
        tw_timer timeout = TW_TIMER_INIT(on_timeout);
        start(&timeout, (i % 2 ? 4 : 40) * MS);
        poll(NULL, 0, i % 10); /* the work */
        cancel(&timeout);      /* from here on it is no longer there */
    }
    stop();
    pthread_join(thread, NULL);
    tw_destroy(&timers);
    printf("400 jobs, %u timeouts\n", timeouts);
}
