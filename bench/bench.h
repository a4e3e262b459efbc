/* SPDX-License-Identifier: MIT
 *
 * bench.h - shared by the bench program and its engines: random numbers,
 * clocks, the description of a job and of a result. timers.c is the program; it
 * knows the engines and trace.c. These know bench.c alone.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The workloads, a row each, in the order in which they are listed:
 *
 *   row(CONSTANT, name, function, few, many, shortest, longest, what)
 *
 * About how many operations a run makes with up to 100 k timers, and with more;
 * the shortest and the longest delay in units of the job; what an operation is.
 * To add a workload: a row here, its function in workloads.h (or a function
 * that is there), a line in a table of report.py, and a row in README.md. What
 * differs by workload alone stands in make_job of timers.c. */
// clang-format off
#define BENCH_PLAIN(row) \
    row(HOLD, "hold", workload_hold, 2000000, 1000000, 1, 60000, \
        "a timer fires and starts again") \
    row(HOLD_NS, "hold-ns", workload_hold_units, 2000000, 1000000, 2, 60000, \
        "as hold, the clock in ns, ticks of 1 ms") \
    row(HOLD_TICK_1, "hold-tick-1", workload_hold_units, 2000000, 1000000, \
        2, 60000, "as hold-ns, ticks of 1 ns") \
    row(COLD, "cold", workload_cold, 4000, 4000, 1, 60000, \
        "as hold, with 4 MB of other work before each call") \
    row(LOOPS, "loops", workload_loops, 2000000, 2000000, 1, 60000, \
        "as hold, twenty timers to an engine") \
    row(STORE, "store", workload_hold_units, 2000000, 1000000, 2, 1000, \
        "as hold, lives of 1 to 1,000 s") \
    row(SPARSE, "sparse", workload_sparse, 2000000, 1000000, 1, 60000, \
        "as hold, ticks of 1 ns, delays from 1 us to 71 min") \
    row(EXPIRE, "expire", workload_expire, 2000000, 1000000, 1, 60000, \
        "a timer starts and fires, in random memory order") \
    row(BURST, "burst", workload_burst, 4000000, 1000000, 1, 60000, \
        "a timer starts and fires, all in one tick") \
    row(BURST_RANDOM, "burst-random", workload_burst_random, 4000000, 1000000, \
        1, 60000, "the same in random memory order") \
    row(RESTART, "restart", workload_restart, 2000000, 1000000, 1, 60000, \
        "cancel a random timer and start it again") \
    row(RESTART_64, "restart-64", workload_restart, 2000000, 1000000, \
        1, 60000, "the same, the clock moves every 64 operations") \
    row(KEEPALIVE, "keepalive", workload_restart, 2000000, 1000000, \
        90000, 90000, "as restart, every delay 90 s") \
    row(KEEPALIVE_64, "keepalive-64", workload_restart, 2000000, 1000000, \
        90000, 90000, "the same, the clock moves every 64 operations") \
    row(REQUESTS, "requests", workload_restart, 2000000, 1000000, 400, 540, \
        "a request starts, and ends before its timeout 99 times of 100") \
    row(POSTPONE, "postpone", workload_postpone, 4000000, 1000000, 1, 60000, \
        "postpone a random timer") \
    row(CANCEL, "cancel", workload_cancel, 2000000, 1000000, 1, 60000, \
        "cancel a random timer") \
    row(STARTSTOP, "startstop", workload_startstop, 2000000, 1000000, \
        1, 60000, "start and cancel one more timer") \
    row(IDLE, "idle", workload_idle, 2000000, 1000000, 1, 60000, \
        "a turn of the loop, no timer is due") \
    row(TRACE, "trace", workload_trace, 5000000, 5000000, 1, 60000, \
        "a call of a recorded program") \
    row(CALLS_MINUTE, "calls-minute", workload_calls, 60000, 60000, 1, 60000, \
        "a wait, and a call that moves the clock by 1 ms, as hold") \
    row(CALLS_IDLE, "calls-idle", workload_calls, 300000, 300000, 1, 300000, \
        "the same with timeouts of 5 min that packets postpone") \
    row(CALLS_REQUESTS, "calls-requests", workload_calls, 20000, 20000, \
        400, 540, "the same as requests") \
    row(CALLS_HOUR, "calls-hour", workload_calls, 1200000, 1200000, \
        1, 3600000, "as calls-minute, delays up to an hour") \
    row(CALLS_10_MINUTES, "calls-10-minutes", workload_calls, 660000, 660000, \
        600000, 660000, "the same with delays of 10 to 11 minutes")

#define BENCH_POST(row) /* the functions are in engines/post.c */ \
    row(POST_64, "post-64", NULL, 1, 1, 1, 60000, \
        "a start or cancel by one of N threads, 64 requests at once") \
    row(POST_1024, "post-1024", NULL, 1, 1, 1, 60000, \
        "the same with 1,024 requests at once")

// clang-format on

#define BENCH_CONSTANT(constant, ...) BENCH_##constant,

typedef enum bench_workload {
    BENCH_PLAIN(BENCH_CONSTANT) BENCH_POST(BENCH_CONSTANT) BENCH_WORKLOADS
} bench_workload;

#define BENCH_CALLS_ROUND 10000u /* calls of a round */
#define BENCH_COLD_ROUND 1000u   /* timers that fire in a round */
#define BENCH_NS_PER_MS 1000000u
#define BENCH_MS_PER_S 1000u

/* One call of a recorded program: start or cancel a timer. */
typedef struct bench_call {
    uint64_t moment; /* microseconds since the first call */
    uint64_t due;    /* due time, by the same clock, or BENCH_CALL_CANCEL */
    uint32_t timer;  /* number of the timer */
} bench_call;

#define BENCH_CALL_CANCEL UINT64_MAX

/* A recording, and the timers that a replay must fire. */
typedef struct bench_trace {
    bench_call *calls;
    size_t count;      /* calls */
    size_t timers;     /* different timers */
    uint64_t fires;    /* timers that fire */
    uint64_t key_sum;  /* sum of the keys of fired timers */
    uint64_t when_sum; /* sum of key * due time of fired timers */
} bench_trace;

/* The description of a run. */
typedef struct bench_job {
    bench_workload workload;
    size_t n;        /* timers; post-*: threads that post */
    uint64_t seed;   /* seed of all random numbers */
    uint64_t rounds; /* a round is n operations but in calls-* and cold */
    const bench_trace *trace;
    uint64_t tick;      /* units of the clock per tick of the engine */
    uint64_t unit;      /* units of the clock per unit of a delay */
    uint64_t shortest;  /* the shortest delay of a timer */
    uint64_t longest;   /* the longest delay */
    uint64_t packets;   /* operations between two ticks */
    uint64_t in_flight; /* post-*: requests of a thread at once */
} bench_job;

#define BENCH_QUANTILES 4 /* half, 99 %, 99.9 %, all */

/* The result of a run. */
typedef struct bench_result {
    uint64_t operations;
    double ns;         /* process time of all operations */
    double loop_ns;    /* post-*: thread time of the loop, otherwise 0 */
    uint64_t fired;    /* while time was taken */
    uint64_t wakeups;  /* while time was taken */
    uint64_t checksum; /* sum of tick * key, over all fired timers */
    size_t bytes;      /* held with all timers pending; 0 = unknown */
    size_t timer_size;
    uint64_t calls;                    /* calls-*: calls measured */
    double quantiles[BENCH_QUANTILES]; /* ns of the calls */
    const char *failure;               /* NULL, or a message */
} bench_result;

/* One workload of one engine, with the functions of the engine compiled in.
 * NULL in the table of an engine: the engine cannot run the workload. */
typedef void bench_function(const bench_job *job, bench_result *result);

typedef struct bench_engine {
    const char *name;
    const char *what;
    const char *version; /* of its library; empty: part of the bench */
    size_t (*most)(bench_workload workload); /* see workloads.h */
    bench_function *workloads[BENCH_WORKLOADS];
    struct bench_engine *next; /* in the list of all engines */
} bench_engine;

/* The list of all engines, in order of name. An engine calls bench_register by
 * itself, in the last lines of workloads.h. */
extern bench_engine *bench_engines;
void bench_register(bench_engine *engine);

/* Reads a recording, which may be compressed by gzip. Returns NULL, after a
 * message on stderr, on failure. `seed` makes the keys of the timers. */
bench_trace *bench_trace_read(const char *path, uint64_t seed);
void bench_trace_free(bench_trace *trace);

/* Sorts samples, and computes their quantiles. */
void bench_quantiles(uint32_t *samples, size_t count, double *quantiles);

/* Ends the program with a message. */
void bench_out_of_memory(void);

/* Returns memory at a multiple of 64, or ends the program. */
void *bench_alloc(size_t size);

/* splitmix64: a number does not depend on the number before. */
static inline uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Returns the first state of the random numbers of a timer: never 0. */
static inline uint64_t bench_key(uint64_t seed, uint64_t id)
{
    uint64_t state = seed + (id << 32);

    return bench_random(&state) | 1;
}

/* xorshift64, for the random numbers of a timer. */
static inline uint64_t bench_next(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* Returns a number from 0 to limit - 1, for limits up to 2^32. */
static inline uint64_t bench_below(uint64_t random, uint64_t limit)
{
    return ((random >> 32) * limit) >> 32;
}

/* Returns process time in nanoseconds. */
static inline double bench_process_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#ifdef CLOCK_MONOTONIC_RAW
#define BENCH_WALL_CLOCK CLOCK_MONOTONIC_RAW
#else
#define BENCH_WALL_CLOCK CLOCK_MONOTONIC
#endif

/* Returns wall clock time in nanoseconds: cheap to read, for short spans. */
static inline uint64_t bench_wall_time(void)
{
    struct timespec t;

    clock_gettime(BENCH_WALL_CLOCK, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define BENCH_PREFETCH(address) __builtin_prefetch(address)

/* The text of a number that is a macro: for versions. */
#define BENCH_TEXT_(number) #number
#define BENCH_TEXT(number) BENCH_TEXT_(number)

#endif
