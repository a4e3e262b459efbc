/* work.c - the work of each call, in basic blocks and in timers moved.
 *
 *     test/cost/work.sh [CASE...]
 *     HEADER=/path/to/timingwheel.h test/cost/work.sh
 *
 * work.sh compiles the header apart, with WORK_WHEEL and with the option
 * -fsanitize-coverage=trace-pc. The option inserts a call of a counter into
 * each basic block of the header. The counts are the same in every run.
 *
 * Two kinds of cases:
 *
 *     script    a line of calls, with bounds on the longest call
 *     million   the longest call of a busy loop with a million timers
 *
 * Each call in a script is also held to these laws:
 *
 *   - A start, cancel, postpone, move or look takes a fixed number of blocks.
 *   - A call that advances takes CALL blocks, and UNIT blocks per timer fired
 *     or moved. Each cancel, postpone or restart pays for STALE blocks once.
 *     While TW_MALLOC fails, a tick that fires takes WAIT blocks per timer.
 *   - A call that creates a wheel is not measured.
 *   - A call with a limit fires and moves at most `limit` timers.
 *
 * Diagnostics show the highest figures of each case.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *work_malloc(size_t size);

#define TW_MALLOC(size, context) ((void)(context), work_malloc(size))
#define TW_FREE(pointer, context) ((void)(context), free(pointer))
#ifdef WORK_WHEEL
#define TIMINGWHEEL_IMPLEMENTATION
#endif
#ifndef HEADER
#define HEADER "../../timingwheel.h"
#endif
#include HEADER

#ifndef WORK_WHEEL
#include "../lib/random.h"
#include "../lib/tap.h"

#ifndef WORK_FACTOR
#define WORK_FACTOR 1 /* blocks of the compiler per block of clang */
#endif
#define BLOCKS(count) ((uint64_t)(count)*WORK_FACTOR)

/* The laws, in blocks. */
#define START BLOCKS(25)
#define CANCEL BLOCKS(5)
#define POSTPONE BLOCKS(5)
#define MOVE BLOCKS(10)
#define LOOK BLOCKS(20)
#define CALL BLOCKS(100)
#define UNIT BLOCKS(100)
#define STALE BLOCKS(10)
#define WAIT BLOCKS(2)

#define TIMERS 1000000
#define MOST_CALLS 20000  /* with a limit, until nothing is due */
#define ENDLESS 100000000 /* a call of so many blocks does not end */
#define ANY UINT64_MAX

/* What is measured: the most blocks of one call, and the most timers that one
 * call moved. */
enum { STARTED, LEFT, POSTPONED, LOOKED, ONE, ADVANCED, MOVED, KINDS };
static const char *const kinds[KINDS] = {
    "start", "cancel", "postpone", "look", "limit 1", "call", "timers moved"};

static struct {
    timingwheel tw;
    uint64_t tick;      /* time units per tick */
    uint64_t step;      /* `s` in scripts: ticks of a bucket */
    size_t used;        /* timers ever started */
    uint64_t stale;     /* cancels, postpones and restarts not paid for */
    uint64_t again;     /* if not 0: fired timers start again so much later */
    uint64_t longest;   /* if not 0: as `again`, at random up to so much */
    size_t restarts;    /* left in the running call */
    uint64_t callbacks; /* blocks in callbacks */
    uint64_t worst[KINDS];
} w;

static tw_timer timers[TIMERS];
static uint64_t most[KINDS]; /* of all lines of a case */
static uint64_t blocks, give_up, random_state;
static jmp_buf endless;
static size_t allocations;
static bool memory_fails;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if (++blocks == give_up)
        longjmp(endless, 1);
}

void *work_malloc(size_t size)
{
    allocations += !memory_fails;
    return memory_fails ? NULL : malloc(size);
}

/* ------------------------------------------------------ measured calls --- */

/* Records a figure, and returns the figure. */
static uint64_t record(unsigned kind, uint64_t figure)
{
    if (figure > w.worst[kind])
        w.worst[kind] = figure;
    return figure;
}

/* Returns a tick in time units, at most UINT64_MAX. */
static uint64_t units(uint64_t tick)
{
    return tick > UINT64_MAX / w.tick ? UINT64_MAX : tick * w.tick;
}

static uint64_t moved_so_far(void)
{
    tw_stats stats;
    tw_get_stats(&w.tw, &stats);
    return stats.cascaded;
}

static void start(tw_timer *timer, uint64_t tick)
{
    bool was_pending = tw_is_pending(timer);
    size_t allocated = allocations;
    uint64_t before = blocks;
    CHECK(tw_start(&w.tw, timer, units(tick)) == TW_OK);
    if (allocations == allocated)
        CHECK(record(STARTED, blocks - before) <= START);
    w.stale += was_pending;
}

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    uint64_t before = blocks, after = w.again;
    if (w.longest != 0)
        after = 1 + random_below(&random_state, w.longest);
    if (after != 0 && w.restarts != 0) {
        w.restarts--;
        start(timer, tw_now(tw) / w.tick + after);
    }
    w.callbacks += blocks - before;
}

static void cancel(tw_timer *timer)
{
    uint64_t before = blocks;
    CHECK(tw_cancel(&w.tw, timer));
    CHECK(record(LEFT, blocks - before) <= CANCEL);
    w.stale++;
}

/* Postpones a pending timer to a later tick. */
static void postpone(tw_timer *timer, uint64_t tick)
{
    uint64_t before = blocks;
    CHECK(tw_postpone(&w.tw, timer, units(tick)) == TW_OK);
    CHECK(record(POSTPONED, blocks - before) <= POSTPONE);
    w.stale++;
}

/* Moves a pending timer to another address and back. */
static void move(tw_timer *timer)
{
    tw_timer elsewhere = TW_TIMER_INIT(NULL);
    uint64_t before = blocks;
    tw_move(&w.tw, timer, &elsewhere);
    tw_move(&w.tw, &elsewhere, timer);
    CHECK(blocks - before <= 2 * MOVE);
}

/* Advances, and checks the laws. */
static void advance(uint64_t tick, size_t limit)
{
    uint64_t due, moved = moved_so_far(), before = blocks;
    (void)tw_next_deadline(&w.tw, &due);
    (void)tw_wait(&w.tw, units(tick), 1);
    CHECK(record(LOOKED, blocks - before) <= LOOK);

    size_t allocated = allocations;
    size_t waiting = tw_count(&w.tw);
    w.restarts = 100;
    w.callbacks = 0;
    before = blocks;
    give_up = before + ENDLESS;
    size_t fired = tw_advance_clock_limit(&w.tw, units(tick), limit);
    give_up = 0;
    uint64_t cost = blocks - before - w.callbacks;
    if (allocations != allocated)
        cost = 0;
    moved = record(MOVED, moved_so_far() - moved);
    (void)record(limit == 1 ? ONE : ADVANCED, cost);

    uint64_t handled = fired + moved, bound = CALL + UNIT * handled;
    if (memory_fails)
        bound += WAIT * waiting * fired;
    uint64_t paid = cost <= bound ? 0 : (cost - bound + STALE - 1) / STALE;
    if (!CHECK(handled <= limit && paid <= w.stale))
        printf("# to %" PRIu64 " with limit %zu: %" PRIu64
               " blocks, %zu fired, %" PRIu64 " moved\n",
               tick, limit, cost, fired, moved);
    w.stale -= paid < w.stale ? paid : w.stale;
}

/* ------------------------------------------------------------- scripts --- */

/* Returns the i-th of many ticks from `first` on: spread over `span` ticks, or,
 * with `span` 0, of any magnitude. */
static uint64_t spread(uint64_t first, uint64_t span, size_t i)
{
    if (span == 0)
        return first + random_magnitude(&random_state);
    return first + i * UINT64_C(0x9e3779b97f4a7c15) % span;
}

/* N FIRST SPAN: starts N timers, spread. */
static void run_start(const uint64_t *o)
{
    for (size_t i = 0; i < o[0]; i++) {
        tw_timer *timer = &timers[w.used++];
        tw_timer_init(timer, on_fire);
        start(timer, spread(o[1], o[2], i));
    }
}

/* FIRST SPAN: starts all timers again, spread. Each moves away and back. */
static void run_restart(const uint64_t *o)
{
    for (size_t i = 0; i < w.used; i++) {
        start(&timers[i], spread(o[0], o[1], i));
        move(&timers[i]);
    }
}

/* FIRST SPAN: postpones all pending timers, spread. */
static void run_postpone(const uint64_t *o)
{
    for (size_t i = 0; i < w.used; i++)
        if (tw_is_pending(&timers[i]))
            postpone(&timers[i], spread(o[0], o[1], i));
}

/* K: cancels all pending timers except each K-th. */
static void run_cancel(const uint64_t *o)
{
    for (size_t i = 0; i < w.used; i++)
        if (tw_is_pending(&timers[i]) && (o[0] == 0 || i % o[0] != 0))
            cancel(&timers[i]);
}

/* T D: a call every D ticks, the last at tick T. D 0: one call. */
static void run_to(const uint64_t *o)
{
    uint64_t now;
    do {
        now = tw_now(&w.tw) / w.tick;
        now = o[1] == 0 || o[0] - now < o[1] ? o[0] : now + o[1];
        advance(now, SIZE_MAX);
    } while (now < o[0]);
}

/* T L: calls with the limit L until nothing is due at tick T. */
static void run_limit(const uint64_t *o)
{
    size_t calls = 0;
    do
        advance(o[0], (size_t)o[1]);
    while (tw_wait(&w.tw, units(o[0]), 1) == 0 && ++calls < MOST_CALLS);
}

/* FAILS DELAY: TW_MALLOC fails from now on if FAILS is 1. Timers that fire
 * start again DELAY later, if not 0. Figures measured so far are forgotten. */
static void run_from_now(const uint64_t *o)
{
    memory_fails = o[0] != 0;
    w.again = o[1];
    memset(w.worst, 0, sizeof(w.worst));
}

static const struct {
    const char *name;
    void (*run)(const uint64_t *numbers);
} operations[] = {{"start", run_start},
                  {"restart", run_restart},
                  {"postpone", run_postpone},
                  {"cancel", run_cancel},
                  {"to", run_to},
                  {"limit", run_limit},
                  {"from-now", run_from_now}};
#define OPERATIONS (sizeof(operations) / sizeof(*operations))

/* The scripts. Times are ticks. 2^N is a power, 3s are three steps of a coarse
 * wheel, and 3p are three parts of 256 of a step. */
typedef struct script {
    const char *name;
    uint32_t size;  /* 0: wheels of 4, 16 and 256 */
    uint64_t moved; /* at most, timers moved by a call */
    uint64_t calls; /* at most, blocks of a call; ANY: the laws alone */
    const char *text;
} script;

static const script scripts[] = {
    /* Promise 7: the number of timers makes no difference. */
    {"nothing due: one tick or 2^60", 0, 0, 100,
     "start 1 0-1 1; to 1; to 2; to 2^20; to 2^58; to 2^60"},
    {"nothing due after a large bucket has moved", 0, 0, 15,
     "start 20000 4s 1s; to 3s; to 4s 1p; to 5s 1p; from-now;"
     "to 6s; to 7s 1p"},
    {"nothing due beside 300,000 timers", 0, 0, 100,
     "start 300000 2^40 2^30; to 1; to 2; to 1000; to 2^20; to 2^38"},
    {"start, move, postpone and cancel among 300,000 timers", 0, 0, 0,
     "start 300000 1 0; restart 1 0; restart 2^20 2^30; cancel 2;"
     "postpone 2^40 0; cancel 0"},
    {"limit 1 beside 300,000 timers", 0, 1, 200,
     "start 300000 2^50 2^40; start 3000 1 0; limit 2^40 1"},
    /* Promise 10: of n timers in a bucket, each of k calls in the step before
     * moves n / k, and each of these timers once in each wheel below. */
    {"256 calls in the step before a large bucket", 0, 640, ANY,
     "start 20000 4s 1s; to 3s; to 4s 1p; to 5s 1p"},
    {"16 calls in the step before a large bucket", 0, 5000, ANY,
     "start 20000 4s 1s; to 3s; to 4s 16p"},
    {"a call per tick", 256, 80, ANY,
     "start 20000 1024 256; to 768; to 1300 1"},
    {"64 calls in the step before, steps of 2^56 ticks", 256, 400, ANY,
     "start 20000 2^58 2^56; to 2^57+2^56; to 2^58+2^54 2^50"},
    {"a loop that slept through the step before", 0, ANY, ANY,
     "start 20000 4s 1s; to 4s; to 5s"},
    {"a large bucket whose timers were cancelled", 0, 128, ANY,
     "start 20000 4s 1s; cancel 16; to 3s; to 4s 1p"},
    {"a large bucket of postponed timers", 0, 640, ANY,
     "start 20000 1s 1; postpone 4s 1s; to 1s; from-now; to 3s; to 4s 1p"},
    {"20,000 timers postponed out of one tick", 0, 640, ANY,
     "start 20000 100 1; postpone 4s 1s; to 99; to 100; from-now; to 5s 1p"},
    {"large buckets in two wheels at once", 256, 160, ANY,
     "start 1 262000 1; start 20000 2^18 2^16; to 261632;"
     "start 20000 2^18 256; from-now; to 261888; from-now; to 263000 1"},
    {"a wheel leaves the delay queue and comes back", 256, 800, ANY,
     "start 600 2^40 2^20; start 1 700 1; to 700; to 701;"
     "start 200000 2001 200; to 2300 1"},
    {"a coarse bucket comes up in the middle of a finer step", 256, 500, ANY,
     "start 1 135000 1; start 100000 135200 200; to 131072; start 1 136000 1;"
     "to 134950; to 135000; from-now; to 135500 1"},
    /* Promise 8: a limit bounds the work. */
    {"limit 1 in buckets of 8 postponed timers", 256, 1, 200,
     "start 2040 512 65280; postpone 2^20 1; limit 66000 1"},
    {"limit 1 in a large bucket", 0, 1, 200, "start 3000 4s 1s; limit 5s 1"},
    {"limit 1 in a tick out of which timers were postponed", 0, 1, 200,
     "start 3000 100 1; postpone 2^20 2^10; limit 2^21 1"},
    {"limit 100 while a bucket moves ahead", 0, 100, ANY,
     "start 20000 4s 1s; to 3s; limit 3s+64p 100; limit 3s+128p 100;"
     "limit 5s 100"},
    {"limit 10, timers that start again, and overdue timers", 0, 10, ANY,
     "from-now 0 1; start 3000 1 500; limit 500 10; start 3000 1 1; limit 600 "
     "10"},
    /* Emptied buckets (promise 8), and no memory (promise 9). */
    {"8,191 emptied buckets", 4096, 0, 50000,
     "start 8192 0 8192; cancel 0; to 9000"},
    {"8,191 emptied buckets, and two timers", 4096, 0, 50000,
     "start 8192 0 8192; cancel 8190; to 9000"},
    {"a postponed timer without memory for its wheel", 256, 4, 200,
     "start 1 1 1; from-now 1; postpone 2^60 1; to 2^34; to 2^59; to 2^61"},
    {"1,000 postponed timers without memory for their wheel", 256, 1000, ANY,
     "start 1000 1 200; from-now 1; postpone 2^40 1000; to 2^34; to 2^40-1;"
     "to 2^40+1000 100"},
};
#define SCRIPTS (sizeof(scripts) / sizeof(*scripts))

/* Reads a number, or numbers joined by + and -. */
static uint64_t read_number(const char **at)
{
    uint64_t sum = 0;
    char *end = NULL;
    for (char sign = '+';; sign = *end, *at = end + 1) {
        uint64_t number = strtoull(*at, &end, 10);
        if (*end == '^')
            number = UINT64_C(1) << strtoul(end + 1, &end, 10);
        if (*end == 's' || *end == 'p')
            number *= *end++ == 's' ? w.step : w.step / 256;
        sum = sign == '+' ? sum + number : sum - number;
        if (*end != '+' && *end != '-')
            break;
    }
    *at = end;
    return sum;
}

static void run_text(const char *at)
{
    while (*(at += strspn(at, "; ")) != '\0') {
        uint64_t numbers[3] = {0, 0, 0};
        size_t length = strcspn(at, "; "), i = 0;
        while (i < OPERATIONS && (strlen(operations[i].name) != length ||
                                  strncmp(operations[i].name, at, length) != 0))
            i++;
        at += length;
        for (size_t j = 0; j < 3 && *at == ' '; j++) {
            at++;
            numbers[j] = read_number(&at);
        }
        if (CHECK(i < OPERATIONS))
            operations[i].run(numbers);
    }
}

static void set_up(uint32_t size, uint64_t tick)
{
    tw_config config = {0, 0, 0, 0, NULL};
    memset(&w, 0, sizeof(w));
    config.wheel_size = size;
    w.tick = config.tick = tick;
    for (w.step = size; w.step < 4096;)
        w.step *= size;
    memory_fails = false;
    random_state = 1;
    CHECK(tw_init(&w.tw, &config) == TW_OK);
}

static void tear_down(void)
{
    for (unsigned i = 0; i < KINDS; i++)
        most[i] = w.worst[i] > most[i] ? w.worst[i] : most[i];
    tw_destroy(&w.tw);
}

static void print_most(void)
{
    printf("# most:");
    for (unsigned i = 0; i < KINDS; i++)
        if (most[i] != 0)
            printf(" %s %" PRIu64 ";", kinds[i], most[i]);
    puts("");
    memset(most, 0, sizeof(most));
}

static void run_script(void)
{
    static const uint32_t sizes[] = {4, 16, 256};
    const bool each_call_ends = false;
    const script *s = &scripts[tap_case_index];
    for (size_t i = 0; i < (s->size == 0 ? 3 : 1); i++)
        for (uint64_t tick = 1; tick <= 10; tick += 9) {
            uint32_t size = s->size == 0 ? sizes[i] : s->size;
            unsigned failed = tap_failed_checks;
            set_up(size, tick);
            if (setjmp(endless) == 0)
                run_text(s->text);
            else
                CHECK(each_call_ends);
            CHECK(w.worst[MOVED] <= s->moved);
            CHECK(s->calls == ANY || w.worst[ONE] <= BLOCKS(s->calls));
            CHECK(s->calls == ANY || w.worst[ADVANCED] <= BLOCKS(s->calls));
            tear_down();
            if (tap_failed_checks != failed)
                printf("# with wheel_size %u, tick %u\n", (unsigned)size,
                       (unsigned)tick);
        }
    print_most();
}

/* ---------------------------------------------------- a million timers --- */

/* A busy loop of one call per tick. Fired timers start again, at random within
 * `longest` ticks. In an idle row `packets` random timers are postponed to
 * `longest` before each call, and fired timers start again for `longest`. The
 * first `longest` calls do not count: then the deadlines have the distribution
 * of later calls. */
static const struct {
    const char *name;
    uint64_t longest;
    uint64_t packets;
    uint64_t calls;
} million[] = {
    {"a million timers within a minute", 60000, 0, 1000},
    {"a million timers within an hour", 3600000, 0, 300},
    {"a million idle timeouts of 5 minutes", 300000, 100, 300},
    {"a million idle timeouts of a minute", 60000, 100, 1000},
};
#define MILLION (sizeof(million) / sizeof(*million))

static void run_million(void)
{
    size_t row = tap_case_index - SCRIPTS;
    uint64_t longest = million[row].longest, packets = million[row].packets;
    set_up(256, 1);
    *(packets != 0 ? &w.again : &w.longest) = longest;
    for (size_t i = 0; i < TIMERS; i++) {
        tw_timer_init(&timers[i], on_fire);
        start(&timers[i], 1 + random_below(&random_state, longest));
    }
    for (uint64_t now = 1; now <= longest + 60000; now++) {
        for (uint64_t i = 0; i < packets; i++)
            postpone(&timers[random_below(&random_state, TIMERS)],
                     now - 1 + longest);
        w.callbacks = 0;
        w.restarts = TIMERS;
        uint64_t before = blocks;
        (void)tw_advance_clock(&w.tw, now);
        if (now > longest)
            record(ADVANCED, blocks - before - w.callbacks);
    }
    CHECK(tw_count(&w.tw) == TIMERS);
    CHECK(w.worst[ADVANCED] <= BLOCKS(million[row].calls));
    tear_down();
    print_most();
}

int main(int argc, char **argv)
{
    static tap_case cases[SCRIPTS + MILLION];
    for (size_t i = 0; i < SCRIPTS; i++)
        cases[i] = (tap_case){scripts[i].name, run_script};
    for (size_t i = 0; i < MILLION; i++)
        cases[SCRIPTS + i] = (tap_case){million[i].name, run_million};
    return TAP_RUN(cases, argc, argv);
}

#endif /* WORK_WHEEL */
