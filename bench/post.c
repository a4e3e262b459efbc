/* SPDX-License-Identifier: MIT
 *
 * post.c - the workloads with threads, in real time:
 *
 *     timers mailbox post P [N]    P threads post to the mailbox of one loop
 *     timers mutex post P [N]      the same wheel behind a mutex, no mailbox
 *     timers shard T               T threads with a wheel each
 *
 * Options: --seed S, --json, --log FILE. README.md explains the figures.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define TW_STATIC
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../timingwheel.h"

#define MOST_THREADS 64

/* ----------------------------------------------------------------- post --- */

#define TIMERS 4096    /* per producer, used in turn */
#define IN_FLIGHT 64   /* started and not yet cancelled: the default */
#define LOOP_NS 20000  /* other work of the loop between two turns */
#define POSTS 40000000 /* of all producers together */

typedef union item {
    tw_remote remote;
    char line[64];
} item;

typedef struct producer {
    pthread_t thread;
    item *items;
    uint64_t requests; /* each a start and a cancel */
    uint64_t random;
    double cpu_ns;
} producer;

static timingwheel wheel;
static tw_mailbox box;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool has_mailbox;
static unsigned in_flight;
static int wake_pipe[2];
static atomic_uint wake_ups;
static atomic_uint running;
static atomic_uint missing_threads;

static struct {
    uint64_t turns;
    double ns;  /* thread time of collecting posts and advancing */
    double max; /* wall time of the longest turn */
} loop;

/* What the command line says. */
typedef struct thread_options {
    uint64_t seed;
    bool json;
    const char *log;
} thread_options;

/* One run of post. */
typedef struct post_run {
    const char *engine;
    unsigned producers;
    uint64_t seed;
    uint64_t posts;
    double wall;   /* ns */
    double cpu_ns; /* of all producers */
} post_run;

static void expect_threads(unsigned count)
{
    atomic_store(&missing_threads, count);
}

/* Returns after all threads have called. pthread_barrier_t would do the same,
 * but macOS has none. */
static void wait_for_threads(void)
{
    atomic_fetch_sub(&missing_threads, 1);
    while (atomic_load(&missing_threads) > 0)
        sched_yield();
}

static FILE *open_log(const char *path)
{
    FILE *log = fopen(path, "a");

    if (log == NULL) {
        perror(path);
        exit(2);
    }
    return log;
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

/* Starts and cancels time-outs, in_flight at once. Each request is answered in
 * time. */
static void *produce(void *argument)
{
    producer *p = argument;
    double began;
    uint64_t i;

    wait_for_threads();
    began = thread_time();
    for (i = 0; i < p->requests; i++) {
        uint64_t delay =
            BENCH_LONGEST + bench_below(bench_next(&p->random), BENCH_LONGEST);

        start(&p->items[i % TIMERS].remote, delay);
        if (i >= in_flight)
            cancel(&p->items[(i - in_flight) % TIMERS].remote);
    }
    p->cpu_ns = thread_time() - began;
    atomic_fetch_sub_explicit(&running, 1, memory_order_release);
    return NULL;
}

/* Makes one turn of the loop at `now`, in ns since the beginning. */
static void turn(uint64_t now)
{
    double began = thread_time();
    uint64_t wall = bench_wall_time();

    if (has_mailbox)
        tw_collect(&box);
    else
        lock();
    tw_advance_clock(&wheel, now / 1000000);
    if (!has_mailbox)
        unlock();
    wall = bench_wall_time() - wall;
    if ((double)wall > loop.max)
        loop.max = (double)wall;
    loop.ns += thread_time() - began;
    loop.turns++;
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

static void make_producer(producer *p, unsigned count, uint64_t seed)
{
    size_t i;

    p->items = bench_alloc(TIMERS * sizeof(*p->items));
    for (i = 0; i < TIMERS; i++)
        tw_remote_init(&p->items[i].remote, NULL);
    p->requests = POSTS / 2 / count;
    p->random = seed;
    if (pthread_create(&p->thread, NULL, produce, p) != 0)
        bench_out_of_memory();
}

static void print_post_text(const post_run *run)
{
    double posts = (double)run->posts;

    printf("%s post, %u producers, %u in flight, seed %" PRIu64 ", %" PRIu64
           " posts in %.3f s\n",
           run->engine, run->producers, in_flight, run->seed, run->posts,
           run->wall / 1e9);
    printf("  million posts a second       %10.2f\n", posts * 1e3 / run->wall);
    printf("  ns per post, producer        %10.2f\n", run->cpu_ns / posts);
    printf("  ns per post, loop            %10.2f\n", loop.ns / posts);
    printf("  us of a turn, longest        %10.2f\n", loop.max / 1e3);
    printf("  posts per turn               %10.2f\n",
           posts / (double)loop.turns);
    printf("  wake-ups per thousand posts  %10.2f\n",
           (double)atomic_load(&wake_ups) * 1e3 / posts);
}

static void print_post_json(FILE *out, const post_run *run)
{
    double posts = (double)run->posts;

    fprintf(out,
            "{\"engine\": \"%s\", \"workload\": \"post-%u\", \"n\": %u, "
            "\"seed\": %" PRIu64 ", \"rounds\": 1, \"operations\": %" PRIu64
            ", \"ns_per_operation\": %.3f, \"rate\": %.3f, "
            "\"loop_ns\": %.3f, \"longest_us\": %.1f}\n",
            run->engine, in_flight, run->producers, run->seed, run->posts,
            run->cpu_ns / posts, posts * 1e3 / run->wall, loop.ns / posts,
            loop.max / 1e3);
}

/* Prints the run as the options say, and to the log. */
static void print_post(const post_run *run, const thread_options *o)
{
    FILE *log;

    if (o->json)
        print_post_json(stdout, run);
    else
        print_post_text(run);
    if (o->log == NULL)
        return;
    log = open_log(o->log);
    print_post_json(log, run);
    fclose(log);
}

/* Sets up the loop and starts the threads, which wait for each other. */
static void make_producers(producer *producers, const post_run *run)
{
    unsigned i;

    has_mailbox = strcmp(run->engine, "mailbox") == 0;
    if (tw_init(&wheel, NULL) != TW_OK || pipe(wake_pipe) != 0)
        bench_out_of_memory();
    tw_mailbox_init(&box, &wheel, wake, NULL);
    atomic_store(&running, run->producers);
    expect_threads(run->producers + 1);
    for (i = 0; i < run->producers; i++)
        make_producer(&producers[i], run->producers, bench_key(run->seed, i));
}

static int post(const char *engine, unsigned count, const thread_options *o)
{
    static producer producers[MOST_THREADS];
    post_run run = {engine, count, o->seed, 0, 0, 0};
    unsigned i;

    run.posts = 2 * (uint64_t)(POSTS / 2 / count) * count;
    make_producers(producers, &run);
    wait_for_threads();
    run.wall = (double)bench_wall_time();
    run_loop();
    run.wall = (double)bench_wall_time() - run.wall;
    for (i = 0; i < count; i++) {
        pthread_join(producers[i].thread, NULL);
        run.cpu_ns += producers[i].cpu_ns;
    }
    tw_collect(&box);
    print_post(&run, o);
    if (tw_count(&wheel) == (size_t)count * in_flight)
        return 0;
    fprintf(stderr, "timers: %zu timers are pending, instead of %u\n",
            tw_count(&wheel), count * in_flight);
    return 1;
}

/* ---------------------------------------------------------------- shard --- */

#define SHARD_TIMERS 10000
#define SHARD_FIRES 20000000 /* of each thread */

typedef struct shard_timer {
    tw_timer timer;
    uint64_t random;
} shard_timer;

/* A wheel per thread. Timers that fire start again. Two threads never write to
 * one cache line. */
typedef struct shard {
    char before[128];
    timingwheel wheel;
    pthread_t thread;
    shard_timer *timers;
    uint64_t fired;
    double cpu_ns;
    char after[128];
} shard;

static void on_rearm(timingwheel *tw, tw_timer *timer)
{
    shard_timer *t = (shard_timer *)timer;
    uint64_t delay = 1 + bench_below(bench_next(&t->random), BENCH_LONGEST);

    if (tw_start(tw, timer, tw_now(tw) + delay) != TW_OK)
        bench_out_of_memory();
}

static void *run_shard(void *argument)
{
    shard *s = argument;
    uint64_t now, fired = 0;
    double began;

    wait_for_threads();
    began = thread_time();
    while (fired < SHARD_FIRES && tw_next_deadline(&s->wheel, &now))
        fired += tw_advance_clock(&s->wheel, now);
    s->cpu_ns = thread_time() - began;
    s->fired = fired;
    return NULL;
}

static void make_shard(shard *s, uint64_t seed, unsigned number)
{
    size_t i;

    s->timers = bench_alloc(SHARD_TIMERS * sizeof(*s->timers));
    if (tw_init(&s->wheel, NULL) != TW_OK)
        bench_out_of_memory();
    for (i = 0; i < SHARD_TIMERS; i++) {
        s->timers[i].random =
            bench_key(seed, (uint64_t)number * SHARD_TIMERS + i);
        tw_timer_init(&s->timers[i].timer, on_rearm);
        on_rearm(&s->wheel, &s->timers[i].timer);
    }
    if (pthread_create(&s->thread, NULL, run_shard, s) != 0)
        bench_out_of_memory();
}

static void print_shards_json(FILE *out, unsigned count, uint64_t fired,
                              double wall, double cpu_ns)
{
    fprintf(out,
            "{\"engine\": \"wheel\", \"workload\": \"shard\", \"n\": %u, "
            "\"rounds\": 1, \"operations\": %" PRIu64
            ", \"ns_per_operation\": %.3f, \"rate\": %.3f}\n",
            count, fired, cpu_ns / (double)fired, (double)fired * 1e3 / wall);
}

static void print_shards(unsigned count, uint64_t fired, double wall,
                         double cpu_ns, const thread_options *o)
{
    FILE *log;

    if (o->json)
        print_shards_json(stdout, count, fired, wall, cpu_ns);
    else
        printf("shard, %u wheels of %d timers, seed %" PRIu64 ", %" PRIu64
               " fired and started again in %.3f s\n"
               "  millions a second            %10.2f\n"
               "  ns of a thread per timer     %10.2f\n",
               count, SHARD_TIMERS, o->seed, fired, wall / 1e9,
               (double)fired * 1e3 / wall, cpu_ns / (double)fired);
    if (o->log == NULL)
        return;
    log = open_log(o->log);
    print_shards_json(log, count, fired, wall, cpu_ns);
    fclose(log);
}

static int run_shards(unsigned count, const thread_options *o)
{
    static shard shards[MOST_THREADS];
    uint64_t fired = 0;
    double wall, cpu_ns = 0;
    unsigned i;

    expect_threads(count + 1);
    for (i = 0; i < count; i++)
        make_shard(&shards[i], o->seed, i);
    wait_for_threads();
    wall = (double)bench_wall_time();
    for (i = 0; i < count; i++) {
        pthread_join(shards[i].thread, NULL);
        fired += shards[i].fired;
        cpu_ns += shards[i].cpu_ns;
        tw_destroy(&shards[i].wheel);
    }
    wall = (double)bench_wall_time() - wall;
    print_shards(count, fired, wall, cpu_ns, o);
    return 0;
}

/* ------------------------------------------------------------ arguments --- */

static unsigned number(const char *text, unsigned most)
{
    unsigned long value = strtoul(text, NULL, 10);

    if (value < 1 || value > most) {
        fprintf(stderr, "timers: from 1 to %u, not %s\n", most, text);
        exit(2);
    }
    return (unsigned)value;
}

/* Reads the options at the end. Returns the number of arguments before them. */
static int parse_options(int argc, char **argv, thread_options *o)
{
    for (;;) {
        if (argc >= 3 && strcmp(argv[argc - 1], "--json") == 0) {
            o->json = true;
            argc--;
        } else if (argc >= 4 && strcmp(argv[argc - 2], "--seed") == 0) {
            o->seed = strtoull(argv[argc - 1], NULL, 10);
            argc -= 2;
        } else if (argc >= 4 && strcmp(argv[argc - 2], "--log") == 0) {
            o->log = argv[argc - 1];
            argc -= 2;
        } else {
            return argc;
        }
    }
}

int bench_threads(int argc, char **argv)
{
    thread_options o = {1, false, NULL};

    argc = parse_options(argc, argv, &o);
    if (argc == 3 && strcmp(argv[1], "shard") == 0)
        return run_shards(number(argv[2], MOST_THREADS), &o);
    if (argc < 4 || argc > 5 || strcmp(argv[2], "post") != 0 ||
        (strcmp(argv[1], "mailbox") != 0 && strcmp(argv[1], "mutex") != 0))
        return -1;
    in_flight = argc == 5 ? number(argv[4], TIMERS - 1) : IN_FLIGHT;
    return post(argv[1], number(argv[3], MOST_THREADS), &o);
}
