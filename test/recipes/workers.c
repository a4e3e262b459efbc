/* workers.c - worker threads, each with a timingwheel; connections move between
 * them with a pending timer, while another thread posts timeouts for them.
 *     cc -std=gnu11 -Wall -Wextra -pthread workers.c -o workers && ./workers
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <pthread.h> /* and with it time.h */
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
enum { WORKERS = 4, CONNECTIONS = 99 };
static struct worker {
    pthread_t thread;
    timingwheel timers;
    tw_mailbox mailbox;
    int wake; /* an eventfd */
} workers[WORKERS];
static struct connection {
    pthread_mutex_t lock; /* held to post for `idle`, and to change `worker` */
    struct worker *worker;
    tw_remote idle, arrive;
} all[CONNECTIONS];
static atomic_uint moves, timeouts, wrong = CONNECTIONS, is_stopping;
static pthread_barrier_t stopped;

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* Any thread, also its worker. 0 cancels. The last call counts. */
static void set_idle(struct connection *c, uint64_t delay)
{
    uint64_t deadline = tw_after(clock_ns(), delay);
    pthread_mutex_lock(&c->lock);
    if (delay > 0)
        tw_post_start(&c->worker->mailbox, &c->idle, deadline);
    else
        tw_post_cancel(&c->worker->mailbox, &c->idle);
    pthread_mutex_unlock(&c->lock);
}

/* Its worker, once it has arrived; also in a callback. After tw_collect no post
 * for it is on the way. The deadline goes along as a post, which a later one
 * replaces. `arrive` fires first, and may take up the socket. */
static void give_away(struct connection *c, struct worker *to)
{
    struct worker *from = c->worker;
    pthread_mutex_lock(&c->lock);
    tw_collect(&from->mailbox);
    c->worker = to;
    tw_post_start(&to->mailbox, &c->arrive, 0);
    if (tw_cancel(&from->timers, &c->idle.timer))
        tw_post_start(&to->mailbox, &c->idle, tw_deadline(&c->idle.timer));
    pthread_mutex_unlock(&c->lock);
}

static void wake(void *fd) /* called in the thread that posts */
{
    eventfd_write(*(int *)fd, 1);
}

/* When all have stopped, nobody gives away: tw_collect finds what is left. */
static void *work(void *argument)
{
    struct worker *w = argument;
    while (!is_stopping) {
        uint64_t wait = tw_wait(&w->timers, clock_ns(), 100 * MS);
        struct pollfd input = {w->wake, POLLIN, 0};
        poll(&input, 1, (int)((wait + MS - 1) / MS));
        eventfd_read(w->wake, &wait); /* before tw_collect: later posts wake */
        tw_advance_clock(&w->timers, clock_ns());
        tw_collect(&w->mailbox);
    }
    pthread_barrier_wait(&stopped);
    tw_collect(&w->mailbox);
    for (int i = 0; i < CONNECTIONS; i++)
        if (all[i].worker == w) /* the last post for an even one is a cancel */
            wrong -= tw_cancel(&w->timers, &all[i].idle.timer) == i % 2;
    tw_destroy(&w->timers);
    return NULL;
}

static void on_idle(timingwheel *tw, tw_timer *timer)
{
    struct connection *c = TW_OWNER(timer, struct connection, idle.timer);
    wrong += tw != &c->worker->timers || clock_ns() < tw_deadline(timer);
    timeouts++;
}

static void on_arrive(timingwheel *tw, tw_timer *timer) /* here: and moves on */
{
    struct connection *c = TW_OWNER(timer, struct connection, arrive.timer);
    wrong += tw != &c->worker->timers;
    give_away(c, &workers[moves++ % WORKERS]);
}

int main(void)
{
    pthread_barrier_init(&stopped, NULL, WORKERS);
    for (struct worker *w = workers; w < workers + WORKERS; w++) {
        tw_init(&w->timers, &(tw_config){.tick = MS, .start = clock_ns()});
        w->wake = eventfd(0, EFD_NONBLOCK);
        tw_mailbox_init(&w->mailbox, &w->timers, wake, &w->wake);
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            return 1;
    }
    for (struct connection *c = all; c < all + CONNECTIONS; c++) {
        pthread_mutex_init(&c->lock, NULL);
        tw_remote_init(&c->idle, on_idle);
        tw_remote_init(&c->arrive, on_arrive);
        c->worker = &workers[(c - all) % WORKERS];
        tw_post_start(&c->worker->mailbox, &c->arrive, 0);
    }
    for (unsigned i = 0; i < 50000; i++)
        set_idle(&all[i % CONNECTIONS], i % 4 * MS), poll(NULL, 0, i % 64 == 0);
    for (unsigned i = 0; i < CONNECTIONS; i++) /* the last posts */
        set_idle(&all[i], i % 2 * 3600000 * MS);
    poll(NULL, 0, 20);
    is_stopping = true; /* each worker looks within 100 ms */
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    printf("%u moves, %u timeouts, %u wrong\n", moves, timeouts, wrong);
    return wrong > 0;
}
