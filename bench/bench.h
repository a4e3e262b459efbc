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

#define BENCH_NS_PER_TICK 1000000u /* in hold-ns */

/* The workloads, in the order in which they are listed. */
typedef enum bench_workload {
    BENCH_HOLD,
    BENCH_HOLD_NS,
    BENCH_EXPIRE,
    BENCH_RESTART,
    BENCH_KEEPALIVE,
    BENCH_POSTPONE,
    BENCH_CANCEL,
    BENCH_STARTSTOP,
    BENCH_BURST,
    BENCH_SPARSE,
    BENCH_IDLE,
    BENCH_TRACE,
    BENCH_POST_64,
    BENCH_POST_1024,
    BENCH_CALLS_MINUTE,
    BENCH_CALLS_IDLE,
    BENCH_CALLS_HOUR,
    BENCH_CALLS_10_MINUTES,
    BENCH_WORKLOADS
} bench_workload;

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
    size_t n;        /* timers; post-*: threads that post */
    uint64_t seed;   /* seed of all random numbers */
    uint64_t rounds; /* a round is n operations; calls-*: `longest` ticks */
    const bench_trace *trace;
    uint64_t tick;      /* units of the clock per tick */
    uint64_t shortest;  /* ticks, the shortest delay of a timer */
    uint64_t longest;   /* ticks, the longest delay */
    uint64_t pace;      /* calls-*: ticks by which a call moves the clock */
    uint64_t packets;   /* calls-idle: packets per tick; 0 in the others */
    uint64_t in_flight; /* post-*: requests of a thread at once */
} bench_job;

/* A part of a run. Phases that do not count prepare the others. */
typedef struct bench_phase {
    const char *name;
    uint64_t operations;
    double ns; /* process time of all operations */
    bool counted;
} bench_phase;

#define BENCH_PHASES 4
#define BENCH_QUANTILES 4 /* half, 99 %, 99.9 %, all */

/* The result of a run. */
typedef struct bench_result {
    bench_phase phases[BENCH_PHASES];
    size_t phase_count;
    uint64_t operations; /* in the phases that count */
    double ns;           /* process time of the phases that count */
    uint64_t fired;      /* in the phases that count */
    uint64_t wakeups;    /* in the phases that count */
    uint64_t checksum;   /* sum of tick * key, over all fired timers */
    size_t bytes;        /* held with all timers pending; 0 = unknown */
    size_t timer_size;
    uint64_t calls;                    /* calls-* and post-*: calls measured */
    double quantiles[BENCH_QUANTILES]; /* ns of the calls */
    const char *failure;               /* NULL, or a message */
} bench_result;

/* One workload of one engine, with the functions of the engine compiled in.
 * NULL in the table of an engine: the engine cannot run the workload. */
typedef void bench_function(const bench_job *job, bench_result *result);

/* The workloads calls-*, in parts: engines in one process take turns, in
 * several passes. */
typedef struct bench_calls {
    void (*begin)(const bench_job *job, bench_result *result);
    bool (*slice)(void); /* some calls; false after the last call of a pass */
    void (*end)(bench_result *result);
    void (*report)(bench_result *result); /* after the last pass */
} bench_calls;

typedef struct bench_engine {
    const char *name;
    const char *what;
    const char *version; /* of its library; empty: part of the bench */
    size_t (*most)(bench_workload workload);    /* see workloads.h */
    bench_function *workloads[BENCH_WORKLOADS]; /* all except calls-* */
    const bench_calls *calls;
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

/* The clock of the engine's event loop, in milliseconds, or NULL (loop.c). */
extern uint64_t *bench_loop_clock;

/* Returns process time in nanoseconds. */
static inline double bench_process_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#ifdef CLOCK_MONOTONIC_RAW
#define BENCH_WALL_CLOCK CLOCK_MONOTONIC_RAW /* see loop.c */
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
