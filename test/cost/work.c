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
 *     script    a line in the language of ../contract/script.h, with bounds on
 *               the longest call; script_more has its commands
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
#define SCRIPT_MORE
#define SCRIPT_TIMER tw_timer
#define SCRIPT_TIMER_INIT tw_timer_init
#define SCRIPT_TIMERS 26
#include "../contract/script.h"
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
    CHECK_EQUAL(tw_start(&w.tw, timer, units(tick)), TW_OK);
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
    CHECK_EQUAL(tw_postpone(&w.tw, timer, units(tick)), TW_OK);
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

/* Runs a command. The deadlines are spread over SPAN ticks from FIRST on, or
 * with a SPAN of 0, they have any magnitude.
 *
 *     many N FIRST SPAN          starts N more timers
 *     restart_all FIRST SPAN     also moves each timer away and back
 *     postpone_all FIRST SPAN    postpones the pending timers
 *     cancel_all K               cancels the pending timers except each K-th
 *     go T                       a call at tick T
 *     steps T D                  a call every D ticks, the last at tick T
 *     limits L T                 calls with limit L until nothing is due at T
 *     no_memory                  TW_MALLOC fails from now on
 *     again DELAY                timers that fire start again DELAY later
 *     forget                     what was measured so far does not count
 *     moved N                    at least N timers have moved so far */
static bool script_more(const char *name)
{
    uint64_t v[3], now;
    size_t i = 0;
    if (SCRIPT_READ("many", 3)) {
        for (; i < v[0]; i++) {
            tw_timer_init(&timers[w.used], on_fire);
            start(&timers[w.used++], spread(v[1], v[2], i));
        }
    } else if (SCRIPT_READ("restart_all", 2)) {
        for (; i < w.used; i++) {
            start(&timers[i], spread(v[0], v[1], i));
            move(&timers[i]);
        }
    } else if (SCRIPT_READ("postpone_all", 2)) {
        for (; i < w.used; i++)
            if (tw_is_pending(&timers[i]))
                postpone(&timers[i], spread(v[0], v[1], i));
    } else if (SCRIPT_READ("cancel_all", 1)) {
        for (; i < w.used; i++)
            if (tw_is_pending(&timers[i]) && (v[0] == 0 || i % v[0] != 0))
                cancel(&timers[i]);
    } else if (SCRIPT_READ("go", 1)) {
        advance(v[0], SIZE_MAX);
    } else if (SCRIPT_READ("steps", 2)) {
        do {
            now = tw_now(&w.tw) / w.tick;
            now = v[0] - now < v[1] ? v[0] : now + v[1];
            advance(now, SIZE_MAX);
        } while (now < v[0]);
    } else if (SCRIPT_READ("limits", 2)) {
        do
            advance(v[1], (size_t)v[0]);
        while (tw_wait(&w.tw, units(v[1]), 1) == 0 && ++i < MOST_CALLS);
    } else if (SCRIPT_IS("no_memory")) {
        memory_fails = true;
    } else if (SCRIPT_READ("again", 1)) {
        w.again = v[0];
    } else if (SCRIPT_READ("moved", 1)) {
        CHECK(moved_so_far() >= v[0]);
    } else if (SCRIPT_IS("forget")) {
        memset(w.worst, 0, sizeof(w.worst));
    } else {
        return false;
    }
    return true;
}

/* Times are ticks. S is a step of a coarse wheel, and P is S / 256. */
typedef struct row {
    const char *name;
    uint32_t size;  /* 0: wheels of 4, 16 and 256 */
    uint64_t moved; /* at most, timers moved by a call */
    uint64_t calls; /* at most, blocks of a call; ANY: the laws alone */
    const char *text;
} row;

static const row rows[] = {
    /* Promise 7: the number of timers makes no difference. */
    {"nothing due: one tick or 2^60", 0, 0, 100,
     "many 1 0-1 1; go 1, 2, 2^20, 2^58, 2^60"},
    {"nothing due after a large bucket has moved", 0, 0, 5,
     "many 20000 4*S S; go 3*S; steps 4*S P; steps 5*S P; forget; go 6*S; "
     "steps 7*S P"},
    {"nothing due after a timer has fired", 0, 0, 5,
     "many 1 1 1; many 1 2^20 1; go 1; forget; go 2, 3, 4"},
    {"nothing due beside 300,000 timers", 0, 0, 100,
     "many 300000 2^40 2^30; go 1, 2, 1000, 2^20, 2^38"},
    {"start, move, postpone and cancel among 300,000 timers", 0, 0, 0,
     "many 300000 1 0; restart_all 1 0; restart_all 2^20 2^30; cancel_all 2; "
     "postpone_all 2^40 0; cancel_all 0"},
    {"limit 1 beside 300,000 timers", 0, 1, 200,
     "many 300000 2^50 2^40; many 3000 1 0; limits 1 2^40"},
    /* Promise 10: of n timers in a bucket, each of k calls in the step before
     * moves n / k, and each of these timers once in each wheel below. */
    {"256 calls in the step before a large bucket", 0, 640, ANY,
     "many 20000 4*S S; go 3*S; steps 4*S P; steps 5*S P"},
    {"16 calls in the step before a large bucket", 0, 5000, ANY,
     "many 20000 4*S S; go 3*S; steps 4*S 16*P"},
    {"a few hundred timers move their share, too", 0, 64, ANY,
     "many 300 4*S S; go 3*S; steps 3*S+S/2 P/16; moved 80"},
    {"an eighth of the step before moves an eighth", 256, 9, ANY,
     "many 2000 1024 256; go 768; steps 800 1; moved 250"},
    {"a call per tick", 256, 80, ANY,
     "many 20000 1024 256; go 768; steps 1300 1"},
    {"64 calls in the step before, steps of 2^56 ticks", 256, 400, ANY,
     "many 20000 2^58 2^56; go 2^57+2^56; steps 2^58+2^54 2^50"},
    {"a loop that slept through the step before", 0, ANY, ANY,
     "many 20000 4*S S; go 4*S, 5*S"},
    {"a large bucket whose timers were cancelled", 0, 400, ANY,
     "many 20000 4*S S; cancel_all 16; go 3*S; steps 4*S P"},
    {"a large bucket of postponed timers", 0, 640, ANY,
     "many 20000 S 1; postpone_all 4*S S; go S; forget; go 3*S; steps 4*S P"},
    {"20,000 timers postponed out of one tick", 0, 640, ANY,
     "many 20000 100 1; postpone_all 4*S S; go 99, 100; forget; steps 5*S P"},
    {"a large bucket whose timers were restarted", 256, 80, ANY,
     "many 20000 1024 256; repeat 3 restart_all 1024 256; go 768; steps 1300 "
     "1"},
    {"small buckets stay beside a large one", 256, 0, ANY,
     "many 800 1100 25600; many 128 65000 1; steps 60000 8"},
    {"large buckets in two wheels at once", 256, 160, ANY,
     "many 1 262000 1; many 20000 2^18 2^16; go 261632; many 20000 2^18 256; "
     "forget; go 261888; forget; steps 263000 1"},
    {"a wheel leaves the delay queue and comes back", 256, 800, ANY,
     "many 600 2^40 2^20; many 1 700 1; go 700, 701; many 200000 2001 200; "
     "steps 2300 1"},
    {"a coarse bucket comes up in the middle of a finer step", 256, 500, ANY,
     "many 1 135000 1; many 100000 135200 200; go 131072; many 1 136000 1; "
     "go 134950, 135000; forget; steps 135500 1"},
    {"a bucket becomes large, and owes nothing for the time before", 256, 129,
     ANY,
     "many 200 600 1; go 300, 700; many 1 135000 1; many 120 135200 200; "
     "go 131072; many 20 135200 200; many 1 136000 1; go 134998; forget; "
     "steps 135500 1"},
    /* Promise 8: a limit bounds the work. */
    {"limit 1 in buckets of 8 postponed timers", 256, 1, 200,
     "many 2040 512 65280; postpone_all 2^20 1; limits 1 66000"},
    {"limit 1 in a large bucket", 0, 1, 200, "many 3000 4*S S; limits 1 5*S"},
    {"limit 1 in a tick out of which timers were postponed", 0, 1, 200,
     "many 3000 100 1; postpone_all 2^20 2^10; limits 1 2^21"},
    {"limit 100 while a bucket moves ahead", 0, 100, ANY,
     "many 20000 4*S S; go 3*S; limits 100 3*S+64*P; limits 100 3*S+128*P; "
     "limits 100 5*S"},
    {"limit 10, timers that start again, and overdue timers", 0, 10, ANY,
     "again 1; many 3000 1 500; limits 10 500; many 3000 1 1; limits 10 600"},
    /* Emptied buckets (promise 8), and no memory (promise 9). */
    {"8,191 emptied buckets", 4096, 0, 50000,
     "many 8192 0 8192; cancel_all 0; go 9000"},
    {"8,191 emptied buckets, and two timers", 4096, 0, 50000,
     "many 8192 0 8192; cancel_all 8190; go 9000"},
    {"a postponed timer without memory for its wheel", 256, 4, 200,
     "many 1 1 1; no_memory; forget; postpone_all 2^60 1; go 2^34, 2^59, 2^61"},
    {"1,000 postponed timers without memory for their wheel", 256, 1000, ANY,
     "many 1000 1 200; no_memory; forget; postpone_all 2^40 1000; "
     "go 2^34, 2^40-1; steps 2^40+1000 100"},
};
#define SCRIPTS (sizeof(rows) / sizeof(*rows))

static void set_up(uint32_t size, uint64_t tick)
{
    tw_config config = {0, 0, 0, 0, NULL};
    memset(&w, 0, sizeof(w));
    config.wheel_size = size;
    w.tick = config.tick = tick;
    memset(&script, 0, sizeof script);
    script_file = "work.c";
    uint64_t step = size;
    while (step < 4096)
        step *= size;
    script_let('S' - 'A', step);
    script_let('P' - 'A', step / 256);
    memory_fails = false;
    random_state = 1;
    CHECK_EQUAL(tw_init(&w.tw, &config), TW_OK);
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
    const row *s = &rows[tap_case_index];
    for (size_t i = 0; i < (s->size == 0 ? 3 : 1); i++)
        for (uint64_t tick = 1; tick <= 10; tick += 9) { /* 1 and 10 units */
            uint32_t size = s->size == 0 ? sizes[i] : s->size;
            unsigned failed = tap_failed_checks;
            set_up(size, tick);
            if (setjmp(endless) == 0)
                script_run_line(s->text);
            else
                CHECK(each_call_ends);
            CHECK(!script.has_failed && w.worst[MOVED] <= s->moved);
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
    {"a million timers within an hour", 3600000, 0, 1300},
    {"a million idle timeouts of 5 minutes", 300000, 100, 1300},
    {"a million idle timeouts of a minute", 60000, 100, 1300},
};
#define MILLION (sizeof(million) / sizeof(*million))

static void run_million(void)
{
    size_t at = tap_case_index - SCRIPTS;
    uint64_t longest = million[at].longest, packets = million[at].packets;
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
    CHECK_EQUAL(tw_count(&w.tw), TIMERS);
    CHECK(w.worst[ADVANCED] <= BLOCKS(million[at].calls));
    tear_down();
    print_most();
}

int main(int argc, char **argv)
{
    static tap_case cases[SCRIPTS + MILLION];
    for (size_t i = 0; i < SCRIPTS; i++)
        cases[i] = (tap_case){rows[i].name, run_script};
    for (size_t i = 0; i < MILLION; i++)
        cases[SCRIPTS + i] = (tap_case){million[i].name, run_million};
    return TAP_RUN(cases, argc, argv);
}

#endif /* WORK_WHEEL */
