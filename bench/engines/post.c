/* SPDX-License-Identifier: MIT
 *
 * post.c - the engines "mailbox" and "mutex", for the workloads post-*, with
 * threads. N threads have requests with a timeout, all answered in time: a
 * request is two posts, which start a timer and cancel an earlier one. One loop
 * makes a turn every 20 us. "mailbox" posts to the mailbox of the loop's
 * timingwheel; "mutex" locks the timingwheel instead.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "../bench.h"

#define TW_STATIC
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#define VERSION                  \
    BENCH_TEXT(TW_VERSION_MAJOR) \
    "." BENCH_TEXT(TW_VERSION_MINOR) "." BENCH_TEXT(TW_VERSION_PATCH)

#define MOST_THREADS 64
#define TIMEOUT 60000u /* ms, the shortest; the longest is twice as much */
#define TIMERS 4096    /* per thread, used in turn */
#define LOOP_NS 20000  /* other work of the loop between two turns */
#define POSTS 40000000 /* of all threads together */

typedef union item {
    tw_remote remote;
    char line[64];
} item;

typedef struct producer {
    pthread_t thread;
    item *items;
    uint64_t requests; /* each a start and a cancel */
    uint64_t in_flight;
    uint64_t random;
    double ns; /* thread time */
} producer;

static timingwheel wheel;
static tw_mailbox box;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool has_mailbox;
static int wake_pipe[2];
static atomic_uint wake_ups;
static atomic_uint running;
static atomic_uint missing_threads;

static double loop_ns; /* thread time of all turns of the loop */

/* Returns after all threads have called. pthread_barrier_t would do the same,
 * but macOS has none. */
static void wait_for_threads(void)
{
    atomic_fetch_sub(&missing_threads, 1);
    while (atomic_load(&missing_threads) > 0)
        sched_yield();
}

static double thread_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void wake(void *context)
{
    (void)context;
    atomic_fetch_add_explicit(&wake_ups, 1, memory_order_relaxed);
    if (write(wake_pipe[1], "", 1) != 1)
        abort();
}

static void lock(void)
{
    if (pthread_mutex_lock(&mutex) != 0)
        abort();
}

static void unlock(void)
{
    if (pthread_mutex_unlock(&mutex) != 0)
        abort();
}

static inline void start(tw_remote *remote, uint64_t deadline)
{
    if (has_mailbox) {
        tw_post_start(&box, remote, deadline);
        return;
    }
    lock();
    if (tw_start(&wheel, &remote->timer, deadline) != TW_OK)
        bench_out_of_memory();
    unlock();
}

static inline void cancel(tw_remote *remote)
{
    if (has_mailbox) {
        tw_post_cancel(&box, remote);
        return;
    }
    lock();
    tw_cancel(&wheel, &remote->timer);
    unlock();
}

static void *produce(void *argument)
{
    producer *p = argument;
    double began;
    uint64_t i;

    wait_for_threads();
    began = thread_time();
    for (i = 0; i < p->requests; i++) {
        uint64_t deadline =
            TIMEOUT + bench_below(bench_next(&p->random), TIMEOUT);

        start(&p->items[i % TIMERS].remote, deadline);
        if (i >= p->in_flight)
            cancel(&p->items[(i - p->in_flight) % TIMERS].remote);
    }
    p->ns = thread_time() - began;
    atomic_fetch_sub_explicit(&running, 1, memory_order_release);
    return NULL;
}

/* Makes one turn of the loop at `now`, in ns since the beginning. */
static void turn(uint64_t now)
{
    double began = thread_time();

    if (!has_mailbox)
        lock();
    tw_advance_clock(&wheel, now / 1000000);
    if (has_mailbox)
        tw_collect(&box);
    else
        unlock();
    loop_ns += thread_time() - began;
}

/* Runs the loop until all producers are through. Between two turns the loop is
 * busy for LOOP_NS, and never sleeps, but reads the pipe of the wake-ups. */
static void run_loop(void)
{
    uint64_t began = bench_wall_time(), now = began;
    unsigned read_ups = 0;
    char buffer[1];

    while (atomic_load_explicit(&running, memory_order_acquire) > 0) {
        uint64_t until = bench_wall_time() + LOOP_NS;

        for (;
             atomic_load_explicit(&wake_ups, memory_order_relaxed) != read_ups;
             read_ups++)
            if (read(wake_pipe[0], buffer, 1) != 1)
                abort();
        turn(now - began);
        do
            now = bench_wall_time();
        while (now < until);
    }
}

static void make_producer(producer *p, const bench_job *job, uint64_t id)
{
    size_t i;

    p->items = bench_alloc(TIMERS * sizeof(*p->items));
    for (i = 0; i < TIMERS; i++)
        tw_remote_init(&p->items[i].remote, NULL);
    p->requests = POSTS / 2 / job->n;
    p->in_flight = job->in_flight;
    p->random = bench_key(job->seed, id);
    if (pthread_create(&p->thread, NULL, produce, p) != 0)
        bench_out_of_memory();
}

static void post(const bench_job *job, bench_result *result)
{
    static producer producers[MOST_THREADS];
    uint64_t posts = 2 * (POSTS / 2 / job->n) * job->n;
    double ns = 0;
    size_t i;

    if (job->n > MOST_THREADS || tw_init(&wheel, NULL) != TW_OK ||
        pipe(wake_pipe) != 0)
        bench_out_of_memory();
    tw_mailbox_init(&box, &wheel, wake, NULL);
    atomic_store(&running, (unsigned)job->n);
    atomic_store(&missing_threads, (unsigned)job->n + 1);
    for (i = 0; i < job->n; i++)
        make_producer(&producers[i], job, i);
    wait_for_threads();
    run_loop();
    for (i = 0; i < job->n; i++) {
        pthread_join(producers[i].thread, NULL);
        ns += producers[i].ns;
    }
    tw_collect(&box);
    *result = (bench_result){.operations = posts, .ns = ns, .loop_ns = loop_ns};
    if (tw_count(&wheel) != job->n * job->in_flight)
        result->failure = "other timers are pending than were left in flight";
}

static void post_to_mailbox(const bench_job *job, bench_result *result)
{
    has_mailbox = true;
    post(job, result);
}

static void post_under_mutex(const bench_job *job, bench_result *result)
{
    has_mailbox = false;
    post(job, result);
}

/* N is the number of threads. */
static size_t most_threads(bench_workload workload)
{
    (void)workload;
    return MOST_THREADS;
}

static bench_engine mailbox = {
    .name = "mailbox",
    .what = "timingwheel.h, other threads post to its mailbox",
    .version = VERSION,
    .most = most_threads,
    .workloads = {[BENCH_POST_64] = post_to_mailbox,
                  [BENCH_POST_1024] = post_to_mailbox},
};

static bench_engine mutex_engine = {
    .name = "mutex",
    .what = "timingwheel.h behind a pthread mutex",
    .version = VERSION,
    .most = most_threads,
    .workloads = {[BENCH_POST_64] = post_under_mutex,
                  [BENCH_POST_1024] = post_under_mutex},
};

static void __attribute__((constructor)) register_engines(void)
{
    bench_register(&mailbox);
    bench_register(&mutex_engine);
}
