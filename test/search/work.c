/* work.c - the work of the library, which an oracle of firing order cannot see:
 * timers moved, and basic blocks executed by each call.
 *
 *     work [--seed S] [--operations N] [CASE...]
 *
 * Compiled alone, the program counts moved timers (tw_stats.cascaded). work.sh
 * compiles the program with WORK_BLOCKS. work.sh compiles the header
 * separately, with WORK_WHEEL and -fsanitize-coverage=trace-pc. Then the
 * compiler inserts a call of __sanitizer_cov_trace_pc into each basic block of
 * the header, and three kinds of cases run:
 *
 *     moves    a small bucket never cascades; a timer moves at most once per
 *              wheel on the timer's way down
 *     growth   an operation takes as many blocks with 32,000 timers, buckets or
 *              dead slots as with 2,000, in each of a list of situations
 *     search   hill climbing over sequences of operations: no sequence makes an
 *              operation take more blocks than a bound on record
 *
 * A failed search prints the shortest sequence found. --operations bounds the
 * search: the number of calls and of timers that fire.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *work_malloc(size_t size);
void work_free(void *pointer);

#define TW_MALLOC(size, context) ((void)(context), work_malloc(size))
#define TW_FREE(pointer, context) ((void)(context), work_free(pointer))
#ifndef WORK_BLOCKS
#define TIMINGWHEEL_IMPLEMENTATION
#endif
#if !defined(WORK_BLOCKS) && !defined(WORK_WHEEL)
#define TW_STATIC
#endif
#include "../../timingwheel.h"

#ifndef WORK_WHEEL
#include "../lib/heap.h"
#include "../lib/tap.h"

#define TIMERS 32400         /* of every case */
#define EXTRA 32000          /* from here on: timers for measured operations */
#define SEQUENCE_TIMERS 4096 /* of a sequence */
#define PLACEMENTS 100000
#define MOST_STEPS 300

/* The rule of the header, "How it works". A bucket of at most FEW timers is
 * sorted by rank. A bucket of at most SMALL timers is sorted by bytes, with one
 * exception: 13 to 63 timers that differ in more than the lowest byte of their
 * ticks. Every other bucket cascades, except a bucket of one tick. The ticks of
 * a bucket differ in one byte if its step is at most 256 ticks. */
#define FEW 12
#define SMALL (sizeof(void *) > 4 ? (size_t)960 : (size_t)96)
#define BYTE_BITS 8

/* The measured values, which a search maximises. */
typedef enum work_kind {
    START,    /* blocks of a start that allocates nothing */
    WITHIN,   /* likewise for tw_start_within */
    ALLOCATE, /* blocks of a start per 16 bytes allocated in the start */
    CANCEL,   /* blocks of a cancel */
    POSTPONE, /* blocks of a postpone to a later time */
    STORE,    /* blocks above a postpone in an empty wheel, if the timer's */
              /* bucket cannot have come up yet */
    LOOK,     /* blocks of tw_next_deadline or tw_wait */
    IDLE,     /* blocks per unit of an advance without a due timer */
    ADVANCE,  /* blocks per unit of an advance without a limit */
    LIMITED,  /* blocks per unit of a call with a limit */
    UNSORTED, /* LIMITED in a sequence with one tick per bucket */
    TOGETHER, /* blocks per unit of all advancing calls in a sequence */
    MOVES,    /* timers moved per timer that may move */
    KINDS
} work_kind;

/* The units of a call that advances the clock:
 *
 *   - CALL_UNITS for the call
 *   - one per timer fired or moved; with a limit, one per timer or dead slot,
 *     up to the limit
 *   - a quarter per slot that the call may sort
 *   - in a sequence of buckets of one tick, without sorting, a quarter per dead
 *     slot in place of the quarter per slot
 *   - one per UNIT_BYTES of memory allocated
 *
 * A call without a limit may also remove dead slots. Each dead slot pays for
 * DEAD_BLOCKS blocks of one call. */
#define CALL_UNITS 8
#define UNIT_BYTES 64
#define DEAD_BLOCKS 20

/* Before a start allocates, the start may search 32 chunks of 12 slots for a
 * chunk to use again. The search counts as SWEEP_UNITS times 16 bytes. */
#define SWEEP_UNITS 384

/* The most blocks for sorting one bucket. */
#define SORT_BLOCKS (SMALL * 40)

/* The bounds on record. Each bound is at least about twice the worst value
 * found with gcc 12 and clang 14. STORE and MOVES have no margin. */
static const struct {
    const char *name;
    const char *unit;
    double most;
    unsigned share; /* percent of the operations of all searches */
} bounds[KINDS] = {
    {"start", "blocks", 3000, 5},
    {"start within", "blocks", 3000, 5},
    {"start that allocates", "blocks per 16 bytes", 10, 5},
    {"cancel", "blocks", 20, 2},
    {"postpone", "blocks", 3000, 5},
    {"postpone in a bucket to come", "blocks more than one store", 0, 8},
    {"next deadline and wait", "blocks", 40, 2},
    {"advance, nothing due", "blocks per unit", 300, 8},
    {"advance", "blocks per unit", 500, 5},
    {"advance with a limit", "blocks per unit", 600, 10},
    {"advance with a limit, nothing to sort", "blocks per unit", 400, 10},
    {"all calls that advance", "blocks per unit", 200, 15},
    {"timers moved", "per timer that may move", 1, 20},
};

/* A placement of a timer: by a start, or by a move after a postpone. */
typedef struct placement {
    uint64_t tick;
    unsigned level; /* the coarsest possible wheel of the timer */
} placement;

/* The options of the command line. */
static struct {
    uint64_t seed;
    uint64_t operations;
} options = {1, 20000000};

/* The wheel under test, its timers, and the measurements since reset(). */
static struct {
    timingwheel tw;
    tw_timer timers[TIMERS];
    uint8_t levels[TIMERS]; /* by timer: the coarsest possible wheel */
    uint64_t slots[TIMERS]; /* by timer: the tick of the last start */
    unsigned bits;          /* log2 of wheel_size */
    placement placements[PLACEMENTS];
    size_t placed;
    size_t postponed;
    size_t cancelled;
    size_t dead;     /* slots not paid for by a call yet */
    uint64_t even;   /* deadlines are multiples of `even`, if not 0 */
    uint64_t again;  /* delay to restart a fired timer; 0: no restart */
    size_t restarts; /* left in the running call */
    size_t fired;
    size_t calls;          /* calls that advance */
    size_t bytes;          /* allocated in `calls` */
    uint64_t in_calls;     /* blocks of all `calls` */
    uint64_t in_callbacks; /* blocks of operations inside of callbacks */
    uint64_t store;        /* blocks of a postpone that is one store */
    uint64_t longest;      /* blocks of the longest of `calls` */
    double worst[KINDS];
} w;

static uint64_t blocks; /* executed in the header */
static uint64_t operations_done;
static uint64_t random_state;

#ifdef WORK_BLOCKS
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}
#endif

void *work_malloc(size_t size)
{
    return heap_malloc(size, NULL);
}

void work_free(void *pointer)
{
    heap_free(pointer, NULL);
}

/* splitmix64 */
static uint64_t random_bits(void)
{
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* 0 .. limit - 1 */
static size_t below(size_t limit)
{
    return (size_t)(random_bits() % limit);
}

/* ------------------------------------------------------ measured calls --- */

static void note(work_kind kind, double value)
{
    if (value > w.worst[kind])
        w.worst[kind] = value;
}

static void forget_worst(void)
{
    for (unsigned i = 0; i < KINDS; i++)
        w.worst[i] = 0;
    w.longest = 0;
}

/* Timers moved since tw_init. */
static size_t moved(void)
{
    tw_stats stats;
    tw_get_stats(&w.tw, &stats);
    return (size_t)stats.cascaded;
}

/* The coarsest wheel for `tick`: the finest wheel whose window holds the tick.
 * A window has wheel_size steps, from the clock's own step on. */
static unsigned level_for(uint64_t tick)
{
    uint64_t clock = tw_now(&w.tw), distance = tick - clock;
    unsigned high = 0;
    while (high < 63 && distance >> (high + 1) != 0)
        high++;
    unsigned level = high / w.bits, shift = level * w.bits;
    uint64_t steps = (tick >> shift) - (clock >> shift);
    return level + (steps >> w.bits != 0);
}

/* Records a placement of a timer. A postponed timer comes from the timer's
 * present wheel, and may pass through each finer wheel. */
static void note_placement(size_t i, uint64_t tick, bool postponed)
{
    unsigned level = tick > tw_now(&w.tw) ? level_for(tick) : 0;
    if (postponed && level < w.levels[i])
        level = w.levels[i];
    if (!postponed)
        w.slots[i] = tick;
    w.levels[i] = (uint8_t)level;
    w.placements[w.placed].tick = tick;
    w.placements[w.placed++].level = level;
}

static bool has_room(void)
{
    return w.placed < PLACEMENTS;
}

static void note_start(work_kind kind, uint64_t cost, size_t bytes)
{
    if (bytes == 0)
        note(kind, (double)cost);
    else
        note(ALLOCATE, (double)cost / ((double)bytes / 16 + SWEEP_UNITS));
}

static void start(size_t i, uint64_t deadline)
{
    if (!has_room())
        return;
    bool was_pending = tw_is_pending(&w.timers[i]);
    note_placement(i, deadline, false);
    uint64_t before = blocks;
    size_t bytes = heap_by_default.total;
    bool done = tw_start(&w.tw, &w.timers[i], deadline) == TW_OK;
    note_start(START, blocks - before, heap_by_default.total - bytes);
    w.dead += was_pending;
    w.cancelled += was_pending;
    operations_done++;
    CHECK(done);
}

static void start_within(size_t i, uint64_t earliest, uint64_t latest)
{
    if (!has_room())
        return;
    bool was_pending = tw_is_pending(&w.timers[i]);
    uint64_t before = blocks;
    size_t bytes = heap_by_default.total;
    bool done = tw_start_within(&w.tw, &w.timers[i], earliest, latest) == TW_OK;
    note_start(WITHIN, blocks - before, heap_by_default.total - bytes);
    note_placement(i, tw_deadline(&w.timers[i]), false);
    w.dead += was_pending;
    w.cancelled += was_pending;
    operations_done++;
    CHECK(done);
}

static void cancel(size_t i)
{
    if (!tw_is_pending(&w.timers[i]))
        return;
    uint64_t before = blocks;
    bool done = tw_cancel(&w.tw, &w.timers[i]);
    note(CANCEL, (double)(blocks - before));
    w.dead++;
    w.cancelled++;
    operations_done++;
    CHECK(done);
}

/* True if the bucket of the timer's last start has not come up: the clock has
 * not reached the step of the coarsest possible bucket. */
static bool is_to_come(size_t i)
{
    unsigned shift = w.levels[i] * w.bits;
    return w.slots[i] >> shift > tw_now(&w.tw) >> shift;
}

/* Postpones to a later time. Ignores a timer that is not pending. */
static void postpone(size_t i, uint64_t deadline)
{
    if (!has_room() || !tw_is_pending(&w.timers[i]) ||
        deadline <= tw_deadline(&w.timers[i]))
        return;
    work_kind kind = is_to_come(i) ? STORE : POSTPONE;
    note_placement(i, deadline, true);
    uint64_t before = blocks;
    size_t bytes = heap_by_default.total;
    bool done = tw_postpone(&w.tw, &w.timers[i], deadline) == TW_OK;
    uint64_t cost = blocks - before;
    if (kind == STORE)
        cost = cost < w.store ? 0 : cost - w.store;
    note_start(kind, cost, heap_by_default.total - bytes);
    w.postponed++;
    w.dead++; /* a due timer, or a timer of a sorted bucket, leaves its slot */
    operations_done++;
    CHECK(done);
}

static void look(void)
{
    uint64_t deadline, before = blocks;
    (void)tw_next_deadline(&w.tw, &deadline);
    note(LOOK, (double)(blocks - before));
    before = blocks;
    (void)tw_wait(&w.tw, tw_now(&w.tw), 1000);
    note(LOOK, (double)(blocks - before));
    operations_done += 2;
}

/* In a sequence of even deadlines, returns the next even deadline, at most one
 * turn ahead. As a result, each possible bucket of the timer has one tick. */
static uint64_t make_even(uint64_t deadline)
{
    uint64_t now = tw_now(&w.tw);
    if (w.even == 0 || deadline <= now)
        return deadline;
    uint64_t step = deadline / w.even + (deadline % w.even != 0);
    uint64_t last = now / w.even + (UINT64_C(1) << w.bits) - 1;
    return (step < last ? step : last) * w.even;
}

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    uint64_t before = blocks;
    w.fired++;
    operations_done++;
    if (w.again != 0 && w.restarts != 0) {
        w.restarts--;
        start((size_t)(timer - w.timers),
              make_even(tw_after(tw_now(tw), w.again)));
    }
    w.in_callbacks += blocks - before;
}

/* Returns the blocks for removing dead slots, if the call took more than
 * `blocks_else`. Each dead slot pays once. */
static uint64_t paid_by_dead(uint64_t cost, double blocks_else)
{
    double missing = ((double)cost - blocks_else) / DEAD_BLOCKS;
    if (missing <= 0)
        return 0;
    size_t paid = missing < (double)w.dead ? (size_t)missing : w.dead;
    w.dead -= paid;
    return paid * DEAD_BLOCKS;
}

/* SIZE_MAX is no limit, as in tw_advance_clock. Returns the blocks. */
static uint64_t advance(uint64_t now, size_t limit)
{
    uint64_t due, clock = tw_now(&w.tw);
    bool idle = w.cancelled == 0;
    if (tw_next_deadline(&w.tw, &due))
        idle = due > now && due > clock;
    bool is_limited = limit != SIZE_MAX;
    size_t pending = tw_count(&w.tw), fired = w.fired;
    size_t moved_before = is_limited ? 0 : moved();
    w.restarts = is_limited ? 1 : 100;
    uint64_t before = blocks, inside = w.in_callbacks;
    size_t bytes = heap_by_default.total;
    (void)tw_advance_clock_limit(&w.tw, now, limit);
    uint64_t cost = blocks - before - (w.in_callbacks - inside);
    size_t slots = pending + w.dead;
    size_t handled = slots < limit ? slots : limit;
    if (!is_limited)
        handled = w.fired - fired + moved() - moved_before;
    bytes = heap_by_default.total - bytes;
    double units = CALL_UNITS + (double)handled + (double)(bytes / UNIT_BYTES);
    if (w.even != 0)
        slots -= pending; /* nothing to sort, but dead slots to remove */
    if (!idle)
        units += (double)(slots < SMALL ? slots : SMALL) / 4;
    work_kind kind = idle ? IDLE : is_limited ? LIMITED : ADVANCE;
    if (kind == LIMITED && w.even != 0)
        kind = UNSORTED;
    uint64_t paid =
        is_limited ? 0 : paid_by_dead(cost, bounds[kind].most / 2 * units);
    note(kind, (double)(cost - paid) / units);
    w.calls++;
    w.in_calls += cost;
    w.bytes += bytes;
    w.longest = cost > w.longest ? cost : w.longest;
    operations_done++;
    return cost;
}

/* Measures a postpone in a wheel without further timers. */
static void measure_one_store(void)
{
    tw_timer timer = TW_TIMER_INIT(on_fire);
    CHECK(tw_start(&w.tw, &timer, UINT64_MAX - 1) == TW_OK);
    w.store = blocks;
    CHECK(tw_postpone(&w.tw, &timer, UINT64_MAX) == TW_OK);
    w.store = blocks - w.store;
    CHECK(tw_cancel(&w.tw, &timer));
    tw_destroy(&w.tw);
}

static void reset(uint32_t wheel_size, uint64_t clock)
{
    tw_config config = {0, 0, 0, 0, NULL};
    config.wheel_size = wheel_size;
    config.start = clock;
    if (w.store == 0 && tw_init(&w.tw, &config) == TW_OK)
        measure_one_store();
    CHECK(tw_init(&w.tw, &config) == TW_OK);
    for (w.bits = 1; UINT32_C(1) << w.bits < wheel_size; w.bits++)
        ;
    for (size_t i = 0; i < TIMERS; i++)
        tw_timer_init(&w.timers[i], on_fire);
    w.placed = w.postponed = w.cancelled = w.dead = w.fired = w.calls = 0;
    w.bytes = 0;
    w.in_calls = 0;
    w.again = w.even = 0;
    forget_worst();
}

/* ------------------------------------------------------- moves allowed --- */

static int by_tick(const void *a, const void *b)
{
    uint64_t x = ((const placement *)a)->tick, y = ((const placement *)b)->tick;
    return (x > y) - (x < y);
}

/* True if a bucket with `timers` timers in all may cascade. */
static bool may_cascade(size_t timers, unsigned shift)
{
    return timers > SMALL || (timers > FEW && shift > BYTE_BITS);
}

/* Returns the number of timers that may move down from one wheel. A bucket
 * takes only timers with ticks in its step, placed for the wheel or for a
 * coarser wheel. */
static size_t moves_from(unsigned level)
{
    unsigned shift = level * w.bits;
    size_t allowed = 0, in_step = 0;
    uint64_t step = 0;
    for (size_t i = 0; i <= w.placed; i++) {
        const placement *p = &w.placements[i];
        if (i < w.placed && p->level < level)
            continue;
        if (i == w.placed || p->tick >> shift != step) {
            allowed += may_cascade(in_step, shift) ? in_step : 0;
            in_step = 0;
        }
        if (i < w.placed) {
            step = p->tick >> shift;
            in_step++;
        }
    }
    return allowed;
}

/* Returns the most moves since reset(). Each postpone may cost one move. Each
 * placement may cost one move per wheel above 0 with a bucket that may have
 * cascaded. Sorts the placements. */
static size_t moves_allowed(void)
{
    size_t allowed = w.postponed;
    unsigned coarsest = 0;
    for (size_t i = 0; i < w.placed; i++)
        if (w.placements[i].level > coarsest)
            coarsest = w.placements[i].level;
    qsort(w.placements, w.placed, sizeof(*w.placements), by_tick);
    for (unsigned level = 1; level <= coarsest; level++)
        allowed += moves_from(level);
    return allowed;
}

/* -------------------------------------------------------- moves: cases --- */

static uint64_t step_of(unsigned level)
{
    return UINT64_C(1) << level * w.bits;
}

/* Advances until nothing is pending, in `calls` or more per deadline. */
static void advance_to_end(uint64_t calls)
{
    uint64_t due, now;
    while (tw_next_deadline(&w.tw, &due)) {
        now = tw_now(&w.tw);
        for (uint64_t i = 1; i <= calls && due > now; i++)
            (void)tw_advance_clock(&w.tw, now + (due - now) / calls * i);
        (void)tw_advance_clock(&w.tw, due);
    }
}

/* Starts `count` timers in one bucket, spread over the first `span` ticks of
 * the step, at most over the step. Advances to the end. Returns the number of
 * moves. */
static size_t moves_of_bucket(unsigned level, size_t count, uint64_t span,
                              uint64_t calls)
{
    uint64_t clock = UINT64_C(12345) << 2 * w.bits;
    reset(UINT32_C(1) << w.bits, clock);
    uint64_t first = (clock / step_of(level) + 3) * step_of(level);
    if (span > step_of(level))
        span = step_of(level);
    for (size_t i = 0; i < count; i++)
        start(i, first + (i == count - 1 ? span - 1 : i * 7919 % span));
    advance_to_end(calls);
    size_t moves = moved();
    CHECK(w.fired == count && moves <= moves_allowed());
    tw_destroy(&w.tw);
    return moves;
}

/* Starts timers that stay pending, in addition to a small bucket. */
static void start_others(void)
{
    for (size_t i = 0; i < 2000; i++)
        start(5000 + i, UINT64_C(3) << 40);
}

static void small_beside_others(void)
{
    static const size_t counts[] = {1, 12, 64, 96, 200, 500, 960};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        for (unsigned level = 1; level <= 2; level++) {
            reset(256, 0);
            start_others();
            size_t count = counts[i] <= SMALL ? counts[i] : SMALL;
            for (size_t j = 0; j < count; j++)
                start(j, 3 * step_of(level) + j * 7919 % step_of(level));
            for (uint64_t turn = 1; turn <= 64; turn++)
                advance(step_of(level) / 16 * turn, SIZE_MAX);
            CHECK(w.fired == count && moved() == 0);
            tw_destroy(&w.tw);
        }
}

/* Promise 16. A call moves the clock by `passed` ticks, to `ahead` ticks before
 * the bucket's step. The call moves the share passed / (passed + ahead) of the
 * timers left. Allowed here: twice this share and a batch. */
#define BATCH 500

static void large_bucket_moved_in_parts(void)
{
    uint64_t first = 3 * 65536, passed = 512;
    size_t left = 16000, before = 0;
    reset(256, 0);
    for (size_t i = 0; i < left; i++)
        start(i, first + i * 7919 % 65536);
    for (uint64_t now = passed; now < first; now += passed) {
        uint64_t ahead = first - now;
        advance(now, SIZE_MAX);
        size_t moves = moved() - before;
        CHECK(moves <= 2 * left * passed / (passed + ahead) + BATCH);
        before += moves;
        left -= moves < left ? moves : left;
    }
    advance(first, SIZE_MAX);
    CHECK(moved() - before <= 2 * BATCH);
    tw_destroy(&w.tw);
}

static void twelve_timers(void)
{
    for (w.bits = 2; w.bits <= 8; w.bits += 2)
        for (unsigned level = 1; level * w.bits <= 40; level++)
            for (size_t count = 1; count <= FEW; count++) {
                CHECK(moves_of_bucket(level, count, UINT64_MAX, 0) == 0);
                CHECK(moves_of_bucket(level, count, UINT64_MAX, 4) == 0);
                CHECK(moves_of_bucket(level, count, 1, 4) == 0);
            }
}

static void small_near(void)
{
    static const size_t counts[] = {13, 14, 63, 64, 65, 95, 96, 300, 959, 960};
    for (w.bits = 2; w.bits <= 8; w.bits += 2)
        for (unsigned level = 1; level * w.bits <= BYTE_BITS; level++)
            for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
                if (counts[i] <= SMALL) {
                    CHECK(moves_of_bucket(level, counts[i], 256, 0) == 0);
                    CHECK(moves_of_bucket(level, counts[i], 256, 3) == 0);
                }
}

static void small_spread(void)
{
    static const size_t counts[] = {64, 65, 95, 96, 300, 959, 960};
    w.bits = 8;
    for (unsigned level = 2; level <= 4; level++)
        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
            if (counts[i] <= SMALL) {
                CHECK(moves_of_bucket(level, counts[i], UINT64_MAX, 0) == 0);
                CHECK(moves_of_bucket(level, counts[i], UINT64_MAX, 3) == 0);
            }
}

/* Timers from wheel 2 move to wheel 1, with steps of 256 ticks: no second
 * move. */
static void few_spread(void)
{
    w.bits = 8;
    for (size_t count = FEW + 1; count < 64; count++) {
        CHECK(moves_of_bucket(2, count, UINT64_MAX, 0) <= count);
        CHECK(moves_of_bucket(2, count, UINT64_MAX, 3) <= count);
        CHECK(moves_of_bucket(3, count, UINT64_MAX, 3) <= 2 * count);
    }
}

/* SMALL * 8 timers in a step of wheel 2 are 30 timers per bucket of wheel 1,
 * too few for a second cascade. 16,000 timers in one step of wheel 1 cascade
 * twice. */
static void large_buckets(void)
{
    w.bits = 8;
    CHECK(moves_of_bucket(1, 16000, UINT64_MAX, 0) <= 16000);
    CHECK(moves_of_bucket(1, 16000, UINT64_MAX, 3) <= 16000);
    CHECK(moves_of_bucket(2, SMALL * 8, UINT64_MAX, 0) <= SMALL * 8);
    CHECK(moves_of_bucket(2, SMALL * 8, UINT64_MAX, 100) <= SMALL * 8);
    CHECK(moves_of_bucket(2, 16000, 256, 0) <= 32000);
    CHECK(moves_of_bucket(2, 16000, 256, 100) <= 32000);
}

/* Builds a bucket of wheel 1 with one timer in its first chunk, in the last
 * slot. This timer comes from a coarser wheel. If the last chunk had few
 * timers, version 1.1.0 counted the bucket as large. */
static void timer_put_in_front(size_t in_bucket)
{
    reset(256, 0);
    start(1000, 65536);
    start(1001, 67594);
    for (size_t i = 0; i < 12; i++)
        start(1002 + i, 95536 + i * 1000);
    advance(65000, SIZE_MAX);
    for (size_t i = 0; i < in_bucket; i++)
        start(i, 67584 + i);
    advance(65536, SIZE_MAX);
}

static void small_with_front(void)
{
    for (size_t count = 1; count <= (SMALL < 256 ? SMALL - 1 : 256); count++) {
        timer_put_in_front(count);
        size_t before = moved();
        CHECK(before <= 14);
        advance(67584 + 256, SIZE_MAX);
        CHECK(moved() == before);
        tw_destroy(&w.tw);
    }
}

static void no_bucket_after_cancel(void)
{
    tw_stats stats;
    for (size_t count = 1; count <= 40; count++) {
        timer_put_in_front(count);
        for (size_t i = 0; i < 2000; i++)
            cancel(i);
        tw_get_stats(&w.tw, &stats);
        CHECK(stats.pending == 0 && stats.buckets == 0);
        tw_destroy(&w.tw);
    }
}

/* A sorted bucket stays sorted while limited calls fire its timers. */
static void small_limited(void)
{
    for (size_t limit = 1; limit <= 64; limit *= 4) {
        reset(256, 0);
        for (size_t i = 0; i < SMALL; i++)
            start(i, 1024 + i * 7919 % 256);
        while (tw_count(&w.tw) != 0)
            (void)tw_advance_clock_limit(&w.tw, 2000, limit);
        CHECK(moved() == 0);
        tw_destroy(&w.tw);
    }
}

/* Most timers of a large bucket are cancelled: at most one move per timer
 * left. */
static void large_bucket_cancelled(void)
{
    for (size_t kept = 2; kept <= 500; kept = kept * 3 / 2) {
        reset(256, 0);
        for (size_t i = 0; i < 5000; i++)
            start(i, 1024 + i * 7919 % 256);
        for (size_t i = 0; i < 5000; i++)
            if (i % kept != 0)
                cancel(i);
        size_t left = tw_count(&w.tw);
        advance_to_end(5);
        CHECK(moved() <= left);
        tw_destroy(&w.tw);
    }
}

/* Ten postpones before the bucket comes up cost one move, not ten. */
static void postponed_lazily(void)
{
    reset(256, 0);
    for (size_t i = 0; i < 500; i++)
        start(i, 30000 + i % 100);
    for (uint64_t turn = 1; turn <= 10; turn++) {
        advance(turn * 1000, SIZE_MAX);
        for (size_t i = 0; i < 500; i++)
            postpone(i, 30000 + turn * 1000 + i % 100);
    }
    advance(39999, SIZE_MAX);
    CHECK(moved() <= 500 && w.fired == 0);
    tw_destroy(&w.tw);
}

/* ------------------------------------------------------------ sequences ---
 * One sequence of operations in bytes, for the search. */

enum operation {
    OP_START,
    OP_RESTART,
    OP_WITHIN,
    OP_CANCEL,
    OP_POSTPONE,
    OP_ADVANCE,
    OP_ADVANCE_DUE, /* to the next deadline, and some time more */
    OP_LIMIT,       /* several calls, to the next deadline and some time */
    OPERATIONS
};

typedef struct step {
    uint8_t operation;
    uint8_t count; /* index into `counts` */
    uint8_t where; /* how far ahead: distance_of */
    uint8_t how;   /* how timers are chosen, or deadlines spread */
} step;

typedef struct sequence {
    uint8_t size;  /* index into `sizes` */
    uint8_t even;  /* if not 0, deadlines are multiples of a step of wheel 1 */
                   /* or 2 */
    uint8_t most;  /* index into `most_placed` */
    uint8_t again; /* not 0: timers that fire start again */
    size_t length;
    step steps[MOST_STEPS];
} sequence;

static const uint32_t sizes[] = {2, 4, 16, 256};
static const size_t counts[] = {1,  1,  1,  2,  3,   5,   11,  12,
                                13, 14, 25, 63, 100, 300, 961, 3000};
static const size_t most_placed[] = {100, 1000, 4000, 30000};
static const size_t limits[] = {1, 1, 2, 10, 100};
static const size_t strides[] = {1, 1, 2, 3, 5, 12, 13, 64};

/* Returns 1 to 4 times a power of 4, plus 0, 1, -1 or half the power. */
static uint64_t distance_of(uint8_t where)
{
    uint64_t unit = UINT64_C(1) << (where & 15) * 2;
    uint64_t distance = unit * ((where >> 4 & 3) + 1U);
    switch (where >> 6) {
    case 0:
        return distance;
    case 1:
        return distance + 1;
    case 2:
        return distance - 1;
    default:
        return distance + unit / 2;
    }
}

/* The deadline of the i-th timer of a step. */
static uint64_t deadline_of(const step *s, size_t i)
{
    uint64_t unit = UINT64_C(1) << (s->where & 15) * 2;
    uint64_t deadline = tw_now(&w.tw) + distance_of(s->where);
    if ((s->how & 8) != 0)
        deadline = deadline / unit * unit;
    switch (s->how & 7) {
    case 0:
        return deadline;
    case 1:
        return deadline + i;
    case 2:
        return deadline + i * 7919 % unit;
    case 3:
        return deadline + i * (unit >> 4);
    case 4:
        return deadline + i * unit;
    case 5:
        return deadline + i * 7919 % 256;
    case 6:
        return deadline + (i == 0 ? 0 : 5 + i % 3);
    default:
        return deadline + i % 16 * (unit >> 4);
    }
}

/* Returns the index of the i-th timer of a step, counted back from the timer
 * started last. */
static size_t chosen(const step *s, size_t i, size_t next)
{
    size_t stride = strides[s->how >> 5];
    size_t first = (s->how >> 3 & 3) * 16U;
    return (next + 2 * SEQUENCE_TIMERS - 1 - first -
            i * stride % SEQUENCE_TIMERS) %
           SEQUENCE_TIMERS;
}

static size_t limit_of(const step *s)
{
    return limits[(s->how >> 1) % (sizeof(limits) / sizeof(*limits))];
}

static void run_calls(const step *s, size_t count)
{
    uint64_t due = tw_now(&w.tw);
    if (s->operation != OP_ADVANCE)
        (void)tw_next_deadline(&w.tw, &due);
    if (due < tw_now(&w.tw))
        due = tw_now(&w.tw);
    if (s->operation == OP_ADVANCE || (s->how & 1) != 0)
        due = tw_after(due, distance_of(s->where));
    if (s->operation != OP_LIMIT) {
        advance(due, SIZE_MAX);
        return;
    }
    for (size_t i = 0; i < count && i < 400; i++)
        advance(due, limit_of(s));
}

/* A step of a sequence; returns the number of the next timer to start. */
static size_t run_step(const step *s, size_t next, size_t most)
{
    size_t count = counts[s->count];
    if (s->operation >= OP_ADVANCE) {
        run_calls(s, count);
        return next;
    }
    for (size_t i = 0; i < count && w.placed < most; i++) {
        size_t timer = chosen(s, i, next);
        uint64_t deadline = make_even(deadline_of(s, i));
        if (s->operation == OP_START)
            start((next + i) % SEQUENCE_TIMERS, deadline);
        else if (s->operation == OP_RESTART)
            start(timer, deadline);
        else if (s->operation == OP_WITHIN)
            start_within(timer, deadline,
                         w.even != 0
                             ? deadline
                             : tw_after(deadline, distance_of(s->where) >> 3));
        else if (s->operation == OP_CANCEL)
            cancel(timer);
        else
            postpone(timer, deadline);
    }
    look();
    return s->operation == OP_START ? (next + count) % SEQUENCE_TIMERS : next;
}

/* Runs a sequence, and stores the measurements in w.worst. */
static void run_sequence(const sequence *q, bool with_moves)
{
    size_t next = 0;
    reset(sizes[q->size], 0);
    w.again = q->again == 0 ? 0 : distance_of(q->again);
    w.even = q->even == 0 ? 0 : UINT64_C(1) << q->even * w.bits;
    for (size_t i = 0; i < q->length; i++)
        next = run_step(&q->steps[i], next, most_placed[q->most]);
    if (with_moves) {
        advance(UINT64_C(1) << 40, SIZE_MAX);
        size_t moves = moved();
        note(MOVES, (double)(moves + 1) / (double)(moves_allowed() + 1));
    }
    double units = (double)(w.calls + w.placed + w.cancelled + w.fired +
                            moved() + w.bytes / UNIT_BYTES);
    note(TOGETHER, (double)w.in_calls / units);
    tw_destroy(&w.tw);
}

static step random_step(void)
{
    uint64_t bits = random_bits();
    step s;
    s.operation = (uint8_t)(bits % OPERATIONS);
    s.count = (uint8_t)(bits >> 8 & 15);
    s.where = (uint8_t)(bits >> 16);
    s.how = (uint8_t)(bits >> 24);
    return s;
}

static void random_sequence(sequence *q)
{
    q->size = (uint8_t)below(sizeof(sizes) / sizeof(*sizes));
    q->again = (uint8_t)(below(4) == 0 ? below(256) : 0);
    q->even = (uint8_t)(below(4) == 0 ? 1 + below(2) : 0);
    q->most = (uint8_t)below(sizeof(most_placed) / sizeof(*most_placed));
    q->length = 4 + below(50);
    for (size_t i = 0; i < q->length; i++)
        q->steps[i] = random_step();
    if (below(2) == 0)
        return;
    q->steps[0].operation = OP_START; /* a large bucket, handled in small
                                       * parts */
    q->steps[0].count = 15;
    q->steps[q->length - 1].operation = OP_LIMIT;
    q->steps[q->length - 1].count = 15;
    q->most = 2;
}

static void remove_steps(sequence *q, size_t at, size_t count)
{
    q->length -= count;
    memmove(&q->steps[at], &q->steps[at + count],
            (q->length - at) * sizeof(step));
}

static void insert_steps(sequence *q, size_t at, const step *steps,
                         size_t count)
{
    if (q->length + count > MOST_STEPS)
        return;
    memmove(&q->steps[at + count], &q->steps[at],
            (q->length - at) * sizeof(step));
    memcpy(&q->steps[at], steps, count * sizeof(step));
    q->length += count;
}

static void mutate(sequence *q)
{
    step copy[8];
    size_t at = below(q->length), count = 1 + below(8);
    if (count > q->length - at)
        count = q->length - at;
    memcpy(copy, &q->steps[at], count * sizeof(step));
    step *s = &q->steps[at];
    switch (below(12)) {
    case 0:
        q->size = (uint8_t)below(sizeof(sizes) / sizeof(*sizes));
        break;
    case 1:
        q->again = (uint8_t)(below(2) ? below(256) : 0);
        break;
    case 2:
        *s = random_step();
        break;
    case 3:
        s->count = (uint8_t)below(16);
        break;
    case 4:
        s->where = (uint8_t)(s->where ^ 1U << below(8));
        break;
    case 5:
        s->how = (uint8_t)(s->how ^ 1U << below(8));
        break;
    case 6:
        insert_steps(q, below(q->length), copy, count);
        break;
    case 7:
        *copy = random_step();
        insert_steps(q, at, copy, 1);
        break;
    case 8:
        q->most = (uint8_t)below(sizeof(most_placed) / sizeof(*most_placed));
        break;
    default:
        if (q->length > count)
            remove_steps(q, at, count);
    }
}

/* ------------------------------------------------------------- search --- */

static double value_of(const sequence *q, work_kind kind)
{
    run_sequence(q, kind == MOVES);
    return w.worst[kind];
}

/* Removes the steps without which a sequence still exceeds the bound. */
static void shorten(sequence *q, work_kind kind)
{
    for (size_t at = q->length; at-- > 0;) {
        sequence shorter = *q;
        if (q->length == 1)
            return;
        remove_steps(&shorter, at, 1);
        if (value_of(&shorter, kind) > bounds[kind].most)
            *q = shorter;
    }
}

static void print_sequence(const sequence *q)
{
    static const char *const names[OPERATIONS] = {
        "start",
        "restart",
        "start within",
        "cancel",
        "postpone",
        "advance",
        "advance to the next deadline",
        "advance with a limit"};
    printf("#   wheels of %u, at most %u starts and postpones, deadlines even: "
           "%u, fired timers start again after %" PRIu64 " ticks\n",
           (unsigned)sizes[q->size], (unsigned)most_placed[q->most],
           (unsigned)q->even, q->again == 0 ? 0 : distance_of(q->again));
    for (size_t i = 0; i < q->length; i++) {
        const step *s = &q->steps[i];
        printf("#   %s: %u times, %" PRIu64 " ticks, ", names[s->operation],
               (unsigned)counts[s->count], distance_of(s->where));
        if (s->operation == OP_LIMIT)
            printf("limit %u\n", (unsigned)limit_of(s));
        else
            printf("each %u. timer, pattern 0x%02x\n",
                   (unsigned)strides[s->how >> 5], (unsigned)s->how);
    }
}

/* Climbs from a random sequence until 150 changes in a row gain nothing. */
static double climb(sequence *best, work_kind kind, uint64_t until)
{
    unsigned in_vain = 0;
    random_sequence(best);
    if (kind == UNSORTED && best->even == 0)
        best->even = 1;
    double worst = value_of(best, kind);
    while (in_vain < 150 && operations_done < until &&
           worst <= bounds[kind].most * 4) {
        sequence next = *best;
        for (size_t changes = 1 + below(3); changes != 0; changes--)
            mutate(&next);
        double value = value_of(&next, kind);
        in_vain = value > worst ? 0 : in_vain + 1;
        if (value >= worst) {
            worst = value;
            *best = next;
        }
    }
    return worst;
}

/* Searches the worst sequence for one kind. Ends after the kind's share of all
 * operations, or after the first climb that exceeds the bound. */
static void search(work_kind kind)
{
    static sequence best, found;
    double worst = 0;
    uint64_t until =
        operations_done + options.operations / 100 * bounds[kind].share;
    random_state = options.seed * KINDS + (uint64_t)kind;
    while (operations_done < until && worst <= bounds[kind].most) {
        double value = climb(&found, kind, until);
        if (value > worst) {
            worst = value;
            best = found;
        }
    }
    if (!CHECK(worst <= bounds[kind].most)) {
        shorten(&best, kind);
        printf("#   %.4g %s from this sequence:\n", value_of(&best, kind),
               bounds[kind].unit);
        print_sequence(&best);
    }
    printf("# %s: at worst %.3g %s, bound %.3g\n", bounds[kind].name, worst,
           bounds[kind].unit, bounds[kind].most);
}

static void random_moves(void)
{
    search(MOVES);
}

#ifdef WORK_BLOCKS

static void search_start(void)
{
    search(START);
}

static void search_within(void)
{
    search(WITHIN);
}

static void search_allocate(void)
{
    search(ALLOCATE);
}

static void search_cancel(void)
{
    search(CANCEL);
}

static void search_postpone(void)
{
    search(POSTPONE);
}

static void search_store(void)
{
    search(STORE);
}

static void search_look(void)
{
    search(LOOK);
}

static void search_idle(void)
{
    search(IDLE);
}

static void search_advance(void)
{
    search(ADVANCE);
}

static void search_limited(void)
{
    search(LIMITED);
}

static void search_unsorted(void)
{
    search(UNSORTED);
}

static void search_together(void)
{
    search(TOGETHER);
}

/* --------------------------------------------------- growth: situations ---
 * Each takes n timers, buckets, dead slots or wheels, n being FEWER or MORE.
 * Timers from EXTRA on are left to the measured operations. */

#define FEWER 2000
#define MORE 32000

static void same_tick(size_t n)
{
    for (size_t i = 0; i < n; i++)
        start(i, 100);
}

static void one_bucket(size_t n)
{
    for (size_t i = 0; i < n; i++)
        start(i, 196608 + i * 7919 % 60000);
}

static void one_per_bucket(size_t n)
{
    for (size_t i = 0; i < n; i++)
        start(i, 300 + 256 * i);
}

static void any_deadline(size_t n)
{
    for (size_t i = 0; i < n; i++)
        start(i, 1 + (random_bits() >> (24 + below(40))));
}

static void cancel_but_few(size_t n)
{
    for (size_t i = 1; i + 3 < n; i++)
        cancel(i);
}

static void cancelled_in_one_bucket(size_t n)
{
    one_bucket(n);
    cancel_but_few(n);
}

static void cancelled_in_one_tick(size_t n)
{
    same_tick(n);
    cancel_but_few(n);
}

static void cancelled_in_all_buckets(size_t n)
{
    one_per_bucket(n);
    cancel_but_few(n);
}

static void one_of_twelve_left(size_t n)
{
    one_bucket(n);
    for (size_t i = 0; i < n; i++)
        if (i % 12 != 0)
            cancel(i);
}

static void large_bucket_worked_on(size_t n)
{
    for (size_t i = 0; i < n; i++)
        start(i, 262144 + (i == 0 ? 0 : 1 + i % 60000));
    for (unsigned i = 0; i < 10; i++)
        advance(262144, 7);
}

static void large_bucket_ahead(size_t n)
{
    for (size_t i = 0; i < n; i++)
        start(i, 131072 + i * 7919 % 60000);
    for (uint64_t now = 66000; now < 100000; now += 10000)
        advance(now, SIZE_MAX);
}

static void large_bucket_ahead_cancelled(size_t n)
{
    large_bucket_ahead(n);
    cancel_but_few(n);
}

/* As in regression/found.c: a far bucket has come up and is sorted. */
static void far_bucket_sorted(size_t n)
{
    start(TIMERS - 1, UINT64_C(3) << 24);
    start(TIMERS - 2, (UINT64_C(4) << 24) - 5);
    advance((UINT64_C(3) << 24) + 1, SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        start(i, tw_now(&w.tw) + 30000);
}

/* How many wheels of 2 or 4 buckets have timers. */
static size_t wheels_for(size_t n)
{
    return n == FEWER ? 3 : 60 / w.bits;
}

/* Makes all wheels. In each wheel two buckets have had timers, and therefore no
 * measured start makes a wheel. */
static void add_wheels(void)
{
    for (size_t i = 0; i < 62; i++) {
        start(2 * i, UINT64_C(2) << i);
        start(2 * i + 1, UINT64_C(3) << i);
    }
    advance(UINT64_C(3) << 61, SIZE_MAX);
}

static void many_wheels(size_t n)
{
    add_wheels();
    uint64_t now = tw_now(&w.tw);
    for (size_t i = 0; i < wheels_for(n); i++)
        start(i, now + (UINT64_C(3) << i * w.bits));
}

static void many_wheels_sorted(size_t n)
{
    size_t wheels = wheels_for(n);
    add_wheels();
    uint64_t now = tw_now(&w.tw);
    for (size_t i = 0; i < wheels; i++) {
        uint64_t first = now + (UINT64_C(4) << i);
        start(2 * i, first);
        start(2 * i + 1, first + (UINT64_C(1) << i) - 1);
    }
    advance(now + (UINT64_C(4) << wheels / 2), SIZE_MAX);
}

/* The bucket is large for FEWER and MORE. The number of wheels differs. */
static void large_bucket_beside_wheels(size_t n)
{
    many_wheels(n);
    uint64_t now = tw_now(&w.tw), span = UINT64_C(1) << 20;
    for (size_t i = 0; i < 8000; i++)
        start(100 + i, now + 3 * span + i * 7919 % span);
    advance(now + 2 * span + span / 2, SIZE_MAX);
}

static void overdue(size_t n)
{
    advance(1000, SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        start(i, i % 1000);
}

static void overdue_cancelled(size_t n)
{
    overdue(n);
    cancel_but_few(n);
}

static void left_by_a_limit(size_t n)
{
    same_tick(n);
    for (unsigned i = 0; i < 7; i++)
        advance(200, 1);
}

static void postponed_from_one_bucket(size_t n)
{
    one_bucket(n);
    for (size_t i = 0; i < n; i++)
        postpone(i, 1000000 + i);
}

static void postponed_and_due(size_t n)
{
    postponed_from_one_bucket(n);
    advance(196608, 20);
}

static void restarted_often(size_t n)
{
    for (size_t i = 0; i < n; i++)
        start(i % 100, 196608 + i * 7919 % 60000);
}

static const struct {
    const char *name;
    void (*prepare)(size_t n);
    uint32_t wheel_size;
    bool sorts; /* a call may sort the bucket of most timers, or visit */
                /* all buckets of a wheel */
} situations[] = {
    {"one tick", same_tick, 256, false},
    {"one bucket", one_bucket, 256, true},
    {"one timer per bucket", one_per_bucket, 256, true},
    {"deadlines of any magnitude", any_deadline, 256, true},
    {"deadlines of any magnitude, wheels of 2", any_deadline, 2, true},
    {"one bucket, cancelled", cancelled_in_one_bucket, 256, true},
    {"one tick, cancelled", cancelled_in_one_tick, 256, false},
    {"one timer per bucket, cancelled", cancelled_in_all_buckets, 256, true},
    {"one bucket, one of twelve left", one_of_twelve_left, 256, true},
    {"large bucket that a limited call works on", large_bucket_worked_on, 256,
     true},
    {"large bucket of the next step", large_bucket_ahead, 256, true},
    {"large bucket of the next step, cancelled", large_bucket_ahead_cancelled,
     256, true},
    {"sorted bucket far ahead", far_bucket_sorted, 256, false},
    {"one timer per wheel", many_wheels, 2, false},
    {"one timer per wheel, wheels of 4", many_wheels, 4, false},
    {"large bucket of the next step, one timer per wheel",
     large_bucket_beside_wheels, 2, true},
    {"one sorted bucket per wheel", many_wheels_sorted, 2, false},
    {"overdue", overdue, 256, false},
    {"overdue, cancelled", overdue_cancelled, 256, false},
    {"due, left by a limited call", left_by_a_limit, 256, false},
    {"postponed out of one bucket", postponed_from_one_bucket, 256, true},
    {"postponed, their bucket is due", postponed_and_due, 256, true},
    {"hundred timers, restarted", restarted_often, 256, true},
};

#define SITUATIONS (sizeof(situations) / sizeof(*situations))

#define SLACK 20

static size_t situation; /* the measured situation */

/* ---------------------------------------------------- growth: measured --- */

static const uint64_t delays[] = {1,      2,       50,      100,    255,
                                  256,    300,     700,     30000,  65536,
                                  196700, 1000000, 1 << 25, 1 << 30};
#define DELAYS (sizeof(delays) / sizeof(*delays))

/* Each measure_ function measures one operation in the situation prepared with
 * n, and returns the worst value. */
static double measure_start(size_t n)
{
    for (size_t i = 0; i < 300; i++) {
        uint64_t deadline = tw_now(&w.tw) + delays[i % DELAYS];
        if (i % 3 == 0)
            deadline = tw_deadline(&w.timers[below(n)]) + 1;
        start(EXTRA + i, deadline);
        start(EXTRA + i, deadline + 1); /* the same wheel again */
    }
    return w.worst[START];
}

static double measure_overdue(size_t n)
{
    (void)n;
    for (size_t i = 0; i < 100; i++)
        start(EXTRA + i, 0);
    return w.worst[START];
}

static double measure_restart(size_t n)
{
    for (size_t i = 0; i < 300; i++) {
        size_t timer = below(n);
        start(timer, i % 2 ? tw_deadline(&w.timers[timer]) + 1
                           : tw_now(&w.tw) + delays[i % DELAYS]);
    }
    return w.worst[START];
}

static double measure_within(size_t n)
{
    for (size_t i = 0; i < 300; i++) {
        uint64_t deadline = tw_now(&w.tw) + delays[i % DELAYS];
        if (i % 3 == 0)
            deadline = tw_deadline(&w.timers[below(n)]);
        start_within(EXTRA + i, deadline, deadline + (1U << i % 20));
    }
    return w.worst[WITHIN];
}

static double measure_cancel(size_t n)
{
    for (size_t i = 0; i < 300; i++)
        cancel(below(n));
    for (size_t i = 0; i < n; i++)
        cancel(n - 1 - i);
    return w.worst[CANCEL];
}

static double measure_start_and_cancel(size_t n)
{
    for (size_t i = 0; i < 300; i++) {
        start(EXTRA + i, tw_deadline(&w.timers[below(n)]) + i % 2);
        cancel(EXTRA + i);
    }
    return w.worst[START] + w.worst[CANCEL];
}

static double measure_postpone(size_t n)
{
    for (size_t i = 0; i < 300; i++) {
        size_t timer = below(n);
        postpone(timer, tw_deadline(&w.timers[timer]) + delays[i % DELAYS]);
    }
    for (size_t i = 0; i < n; i++)
        postpone(i, tw_deadline(&w.timers[i]) + 1);
    return w.worst[POSTPONE] > w.worst[STORE] ? w.worst[POSTPONE]
                                              : w.worst[STORE];
}

/* A postpone is one store, for timers of buckets that have not come up. */
static double measure_store(size_t n)
{
    (void)measure_postpone(n);
    return w.worst[STORE];
}

static double measure_look(size_t n)
{
    (void)n;
    look();
    cancel(0);
    cancel(1);
    look();
    return w.worst[LOOK];
}

/* Advances in parts up to the next deadline, and repeats each reading. */
static double measure_idle(size_t n)
{
    uint64_t due = UINT64_MAX;
    (void)n;
    for (unsigned i = 0; i < 100; i++) {
        if (tw_next_deadline(&w.tw, &due) && due <= tw_now(&w.tw) + 1)
            break;
        uint64_t now = tw_now(&w.tw);
        advance(now, SIZE_MAX);
        advance(now + (due - now) / 16, SIZE_MAX);
    }
    return w.worst[IDLE];
}

/* Returns `cost` without the blocks for sorting one bucket. */
static uint64_t without_sorting(uint64_t cost)
{
    if (!situations[situation].sorts)
        return cost;
    return cost < SORT_BLOCKS ? 0 : cost - SORT_BLOCKS;
}

/* Returns the blocks per unit of the limit, without sorting one bucket. All
 * timers are due. Makes at most FEWER calls or FEWER units. Slots of cancelled
 * timers count towards the limit, and a call may handle fewer timers. */
static double measure_limit(size_t limit)
{
    size_t units = 0, calls = 0;
    uint64_t cost = 0, now = tw_now(&w.tw);
    (void)tw_next_deadline(&w.tw, &now);
    for (; calls < FEWER && units < FEWER; calls++, units += limit) {
        if (tw_wait(&w.tw, now + 100000, 1) != 0)
            break;
        cost += advance(now + 100000, limit);
    }
    return (double)without_sorting(cost) / (double)(calls + units + 1);
}

static double measure_limit_1(size_t n)
{
    (void)n;
    return measure_limit(1);
}

static double measure_limit_10(size_t n)
{
    (void)n;
    return measure_limit(10);
}

static double measure_limit_100(size_t n)
{
    (void)n;
    return measure_limit(100);
}

/* Blocks of the longest call with a limit of 1, apart from sorting. */
static double measure_longest(size_t n)
{
    (void)n;
    (void)measure_limit(1);
    return (double)without_sorting(w.longest);
}

/* ----------------------------------------------------- growth: compared --- */

static double measure(double (*measured)(size_t), size_t n)
{
    random_state = options.seed;
    reset(situations[situation].wheel_size, 0);
    situations[situation].prepare(n);
    forget_worst();
    double value = measured(n);
    tw_destroy(&w.tw);
    return value;
}

/* Returns the blocks that MORE timers may take above FEWER, for three reasons.
 * A delay queue of 60 wheels is deeper than a queue of 3. A start only searches
 * for chunks to give back if there are many. A bucket of MORE timers
 * cascades. */
static double slack_of(double slack)
{
    bool is_small = situations[situation].wheel_size <= 4;
    return situations[situation].sorts && !is_small ? 4 * slack : slack;
}

/* Passes if MORE timers take at most 1.5 times the blocks of FEWER timers plus
 * `slack`, in each situation. No situation may take more than `most`. */
static void compare(double (*measured)(size_t), double slack, double most)
{
    double worst = -1;
    const char *where = "";
    for (situation = 0; situation < SITUATIONS; situation++) {
        double few = measure(measured, FEWER), many = measure(measured, MORE);
        bool is_constant = many <= few * 1.5 + slack_of(slack);
        if (!CHECK(is_constant && few <= most && many <= most))
            printf("#   %s: %.4g blocks with %d, %.4g with %d\n",
                   situations[situation].name, few, FEWER, many, MORE);
        if (many > worst) {
            worst = many;
            where = situations[situation].name;
        }
    }
    printf("# at most %.4g blocks (%s), bound %.4g\n", worst, where, most);
}

static void growth_start(void)
{
    compare(measure_start, 500, bounds[START].most);
}

static void growth_overdue(void)
{
    compare(measure_overdue, 500, bounds[START].most);
}

static void growth_restart(void)
{
    compare(measure_restart, 500, bounds[START].most);
}

static void growth_within(void)
{
    compare(measure_within, 500, bounds[WITHIN].most);
}

static void growth_cancel(void)
{
    compare(measure_cancel, 0, bounds[CANCEL].most);
}

static void growth_start_and_cancel(void)
{
    compare(measure_start_and_cancel, 500, bounds[START].most);
}

static void growth_postpone(void)
{
    compare(measure_postpone, 500, bounds[POSTPONE].most);
}

static void growth_store(void)
{
    compare(measure_store, 0, bounds[STORE].most);
}

static void growth_look(void)
{
    compare(measure_look, SLACK, bounds[LOOK].most);
}

static void growth_idle(void)
{
    compare(measure_idle, bounds[IDLE].most / 2, bounds[IDLE].most);
}

static void growth_limit_1(void)
{
    compare(measure_limit_1, 2 * SLACK, 800);
}

static void growth_limit_10(void)
{
    compare(measure_limit_10, 3 * SLACK, 400);
}

static void growth_limit_100(void)
{
    compare(measure_limit_100, 2 * SLACK, 300);
}

static void growth_longest(void)
{
    compare(measure_longest, 100, 2000);
}

#endif /* WORK_BLOCKS */

/* -------------------------------------------------------- command line --- */

static const tap_case cases[] = {
    {"moves: none in a bucket of 12 timers", twelve_timers},
    {"moves: none in a small bucket of 256 ticks", small_near},
    {"moves: none in a small bucket of 64 timers or more", small_spread},
    {"moves: none in a small bucket beside 2,000 other timers",
     small_beside_others},
    {"moves: 13 to 63 timers, spread: once per wheel", few_spread},
    {"moves: large buckets: once per wheel with a large bucket", large_buckets},
    {"moves: a large bucket moves a part in each call",
     large_bucket_moved_in_parts},
    {"moves: none in a small bucket with a timer put in front",
     small_with_front},
    {"moves: no bucket is left after all timers were cancelled",
     no_bucket_after_cancel},
    {"moves: none in a small bucket fired with a limit", small_limited},
    {"moves: only the timers left in a large bucket, once",
     large_bucket_cancelled},
    {"moves: one for ten postpones", postponed_lazily},
    {"moves: search for too many", random_moves},
#ifdef WORK_BLOCKS
    {"growth: start", growth_start},
    {"growth: start overdue", growth_overdue},
    {"growth: restart", growth_restart},
    {"growth: start within", growth_within},
    {"growth: cancel", growth_cancel},
    {"growth: start and cancel", growth_start_and_cancel},
    {"growth: postpone", growth_postpone},
    {"growth: postpone in a bucket to come", growth_store},
    {"growth: next deadline and wait", growth_look},
    {"growth: advance, nothing due", growth_idle},
    {"growth: limit 1, on average", growth_limit_1},
    {"growth: limit 10, on average", growth_limit_10},
    {"growth: limit 100, on average", growth_limit_100},
    {"growth: limit 1, longest call", growth_longest},
    {"search: start", search_start},
    {"search: start within", search_within},
    {"search: start that allocates", search_allocate},
    {"search: cancel", search_cancel},
    {"search: postpone", search_postpone},
    {"search: postpone in a bucket to come", search_store},
    {"search: next deadline and wait", search_look},
    {"search: advance, nothing due", search_idle},
    {"search: advance", search_advance},
    {"search: advance with a limit", search_limited},
    {"search: advance with a limit, nothing to sort", search_unsorted},
    {"search: all calls that advance together", search_together},
#endif
};

/* Removes the options from the arguments. Returns false for a wrong option. */
static bool parse_options(int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        uint64_t *value = NULL;
        char *end;
        if (strcmp(argv[i], "--seed") == 0)
            value = &options.seed;
        if (strcmp(argv[i], "--operations") == 0)
            value = &options.operations;
        if (value == NULL) {
            if (argv[i][0] == '-')
                return false;
            argv[kept++] = argv[i];
            continue;
        }
        if (++i == *argc)
            return false;
        *value = strtoull(argv[i], &end, 0);
        if (*end != '\0' || end == argv[i])
            return false;
    }
    *argc = kept;
    return true;
}

int main(int argc, char **argv)
{
    if (!parse_options(&argc, argv)) {
        fputs("usage: work [--seed S] [--operations N] [CASE...]\n", stderr);
        return 2;
    }
    printf("# seed %" PRIu64 ", %" PRIu64 " operations\n", options.seed,
           options.operations);
    return TAP_RUN(cases, argc, argv);
}

#endif /* WORK_WHEEL */
