/* work.c - the work of each call, in timers moved and in basic blocks, and the
 * wake-ups in vain (promises 6 to 10).
 *
 *     make .build/work && .build/work [CASE...]    timers moved
 *     test/cost/work.sh [CASE...]                  and basic blocks
 *
 * `make test` runs the first program, which counts no blocks. work.sh compiles
 * the header apart, with gcc -fsanitize-coverage=trace-pc, which inserts a call
 * of a counter into each basic block. The counts are the same in every run.
 *
 * A row is a line in the language of ../contract/script.h, with bounds on the
 * longest call; script_more has more commands. Each call is also held to these
 * laws:
 *
 *   - A start, cancel, postpone or move takes a fixed number of blocks. So does
 *     a look, tw_next_deadline and tw_wait, which may search a bucket with up
 *     to 44 timers in each wheel.
 *   - A call that advances takes CALL blocks, and UNIT blocks per timer fired
 *     or moved. Each cancel, postpone or restart pays for STALE blocks once.
 *     While TW_MALLOC fails, a tick that fires takes WAIT blocks per timer.
 *   - A call that creates a wheel is not measured.
 *   - A call with a limit fires and moves at most `limit` timers.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L /* popen */
#include <inttypes.h>

#define SCRIPT_MORE
#define SCRIPT_TIMER tw_timer
#define SCRIPT_TIMER_INIT tw_timer_init
#define SCRIPT_TIMERS 26
#include "../contract/cases.h"
#include "../lib/random.h"

/* The laws, in blocks. */
enum { START = 50, CANCEL = 11, POSTPONE = 10, MOVE = 20, LOOK = 1300 };
enum { CALL = 200, UNIT = 200, STALE = 20, WAIT = 4 };

#define TIMERS 310000
#define MOST_CALLS 20000 /* with a limit, until nothing is due */
#define ANY UINT64_MAX

static struct {
    uint64_t tick;      /* time units per tick */
    size_t used;        /* timers ever started */
    uint64_t stale;     /* cancels, postpones and restarts not paid for */
    uint64_t again;     /* if not 0: fired timers start again so much later */
    size_t restarts;    /* left in the running call */
    uint64_t callbacks; /* blocks in callbacks */
    /* measured, since `forget`: */
    uint64_t most_blocks; /* of a call that advances */
    uint64_t most_moved;  /* timers that a call moved */
    uint64_t vain;        /* wake-ups for tw_wait when nothing fired */
} w;

static tw_timer timers[TIMERS];
static uint64_t blocks, random_state;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

/* ------------------------------------------------------ measured calls --- */

/* Returns a tick in time units, at most UINT64_MAX. */
static uint64_t units(uint64_t tick)
{
    return tick > UINT64_MAX / w.tick ? UINT64_MAX : tick * w.tick;
}

static void start(tw_timer *timer, uint64_t time)
{
    bool was_pending = tw_is_pending(timer);
    size_t allocated = memory->blocks;
    uint64_t before = blocks;
    CHECK_EQUAL(tw_start(tw, timer, time), TW_OK);
    if (memory->blocks == allocated)
        CHECK(blocks - before <= START);
    w.stale += was_pending;
}

static void on_fire(timingwheel *its_wheel, tw_timer *timer)
{
    uint64_t before = blocks;
    CHECK(tw_now(its_wheel) >= tw_deadline(timer));
    if (w.again != 0 && w.restarts != 0) {
        w.restarts--;
        start(timer, tw_now(its_wheel) + units(w.again));
    }
    w.callbacks += blocks - before;
}

static void cancel(tw_timer *timer)
{
    uint64_t before = blocks;
    CHECK(tw_cancel(tw, timer));
    CHECK(blocks - before <= CANCEL);
    w.stale++;
}

/* Postpones a pending timer to a later time. */
static void postpone(tw_timer *timer, uint64_t time)
{
    uint64_t before = blocks;
    CHECK_EQUAL(tw_postpone(tw, timer, time), TW_OK);
    CHECK(blocks - before <= POSTPONE);
    w.stale++;
}

/* Moves a pending timer to another address and back. */
static void move(tw_timer *timer)
{
    tw_timer elsewhere = TW_TIMER_INIT(NULL);
    uint64_t before = blocks;
    tw_move(tw, timer, &elsewhere);
    tw_move(tw, &elsewhere, timer);
    CHECK(blocks - before <= 2 * MOVE);
}

/* Advances, and checks the laws. Returns the number of timers that fired. */
static size_t advance(uint64_t time, size_t limit)
{
    uint64_t due, before = blocks;
    (void)tw_next_deadline(tw, &due);
    (void)tw_wait(tw, time, 1);
    CHECK(blocks - before <= LOOK);

    size_t allocated = memory->blocks, pending = tw_count(tw);
    uint64_t moved = stats().cascaded;
    w.restarts = 100;
    w.callbacks = 0;
    before = blocks;
    size_t fired = tw_advance_clock_limit(tw, time, limit);
    uint64_t cost = blocks - before - w.callbacks;
    if (memory->blocks != allocated)
        cost = 0;
    moved = stats().cascaded - moved;
    w.most_moved = moved > w.most_moved ? moved : w.most_moved;
    w.most_blocks = cost > w.most_blocks ? cost : w.most_blocks;

    uint64_t handled = fired + moved, bound = CALL + UNIT * handled;
    if (memory->for_ever)
        bound += WAIT * pending * fired;
    uint64_t paid = cost <= bound ? 0 : (cost - bound + STALE - 1) / STALE;
    if (!CHECK(handled <= limit && paid <= w.stale) && tap_is_shown)
        printf("# to %" PRIu64 " with limit %zu: %" PRIu64
               " blocks, %zu fired, %" PRIu64 " moved\n",
               time, limit, cost, fired, moved);
    w.stale -= paid < w.stale ? paid : w.stale;
    return fired;
}

/* ------------------------------------------------------------ programs --- */

/* A loop sleeps for tw_wait, or until something else wakes it at `until`. A
 * wake-up is in vain if tw_wait has set its time and nothing fires. */
static void sleep_until(uint64_t until)
{
    while (tw_now(tw) < until && w.vain < MOST_CALLS) {
        uint64_t now = tw_now(tw);
        now += tw_wait(tw, now, until - now);
        w.vain += advance(now, SIZE_MAX) == 0 && now < until;
    }
}

static tw_timer *new_timer(void)
{
    tw_timer_init(&timers[w.used], on_fire);
    return &timers[w.used++];
}

/* Thirty requests a second, at random, have a timeout of a second. Each is
 * answered after half of its timeout. A tick is a millisecond. */
static void answer_requests(size_t requests)
{
    uint64_t second = units(1000), next = 1;
    for (size_t answered = 0; answered < requests;) {
        uint64_t answer = answered == w.used
                              ? UINT64_MAX
                              : tw_deadline(&timers[answered]) - second / 2;
        sleep_until(answer < next ? answer : next);
        if (answer < next) {
            cancel(&timers[answered++]);
        } else {
            start(new_timer(), next + second);
            next += 1 + random_below(&random_state, second / 15);
        }
    }
}

/* Replays a recorded server of Python's asyncio, in microseconds. bench/trace.c
 * has the format. */
static void replay(void)
{
    char line[80], kind = '\0';
    uint64_t moment = 0, after, delay = 0;
    unsigned timer = 0;
    FILE *in = popen("gzip -dc bench/traces/asyncio-http.txt.gz", "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        CHECK(sscanf(line, "%" SCNu64 " %c %u %" SCNu64, &after, &kind, &timer,
                     &delay) >= 3 &&
              timer < TIMERS);
        while (w.used <= timer)
            (void)new_timer();
        moment += after;
        sleep_until(units(moment) / 1000);
        if (kind == 'S')
            start(&timers[timer], tw_now(tw) + units(delay) / 1000);
        else if (tw_is_pending(&timers[timer]))
            cancel(&timers[timer]);
    }
    CHECK(in != NULL && pclose(in) == 0);
}

/* Clients come evenly within `within` ticks, have a timeout of 30,000, and send
 * something about every 1,000 ticks, which postpones the timeout. */
static void serve(size_t clients, uint64_t within)
{
    for (uint64_t tick = 1; tick < 130000; tick++) {
        uint64_t timeout = units(tick + 30000);
        while (w.used < clients && w.used < clients * tick / within)
            start(new_timer(), timeout);
        for (size_t i = 0; i < w.used / 1000; i++)
            postpone(&timers[random_below(&random_state, w.used)], timeout);
        (void)advance(units(tick), SIZE_MAX);
    }
}

/* ------------------------------------------------------------- scripts --- */

/* Returns the time of the i-th of many ticks from `first` on: spread over
 * `span` ticks, or, with `span` 0, of any magnitude. */
static uint64_t spread(uint64_t first, uint64_t span, size_t i)
{
    if (span == 0)
        return units(first + random_magnitude(&random_state));
    return units(first + i * UINT64_C(0x9e3779b97f4a7c15) % span);
}

/* Runs a command. The deadlines are spread over SPAN ticks from FIRST on, or
 * with a SPAN of 0, they have any magnitude.
 *
 *     many N FIRST SPAN          starts N more timers
 *     restart_all FIRST SPAN     also moves each timer away and back
 *     postpone_all FIRST SPAN    postpones the pending timers
 *     cancel_all K               cancels the pending timers except each K-th
 *     cancel_last N              cancels the last N timers that were started
 *     go T                       a call at tick T
 *     steps T D                  a call every D ticks, the last at tick T
 *     limits L T                 calls with limit L until nothing is due at T
 *     again DELAY                timers that fire start again DELAY later
 *     requests N, replay, serve N T    see above
 *     forget                     what was measured so far does not count
 *     moved N M                  from N to M timers have moved so far
 *     vain N                     at most N wake-ups were in vain so far */
static bool script_more(const char *name)
{
    uint64_t v[3], now;
    size_t i = 0;
    if (SCRIPT_READ("many", 3)) {
        for (; i < v[0]; i++)
            start(new_timer(), spread(v[1], v[2], i));
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
    } else if (SCRIPT_READ("cancel_last", 1)) {
        for (; i < v[0]; i++)
            cancel(&timers[w.used - 1 - i]);
    } else if (SCRIPT_READ("go", 1)) {
        (void)advance(units(v[0]), SIZE_MAX);
    } else if (SCRIPT_READ("steps", 2)) {
        do {
            now = tw_now(tw) / w.tick;
            now = v[0] - now < v[1] ? v[0] : now + v[1];
            (void)advance(units(now), SIZE_MAX);
        } while (now < v[0]);
    } else if (SCRIPT_READ("limits", 2)) {
        do
            (void)advance(units(v[1]), (size_t)v[0]);
        while (tw_wait(tw, units(v[1]), 1) == 0 && ++i < MOST_CALLS);
    } else if (SCRIPT_READ("again", 1)) {
        w.again = v[0];
    } else if (SCRIPT_READ("requests", 1)) {
        answer_requests((size_t)v[0]);
    } else if (SCRIPT_IS("replay")) {
        replay();
    } else if (SCRIPT_READ("serve", 2)) {
        serve((size_t)v[0], v[1]);
    } else if (SCRIPT_READ("moved", 2)) {
        CHECK(stats().cascaded >= v[0] && stats().cascaded <= v[1]);
    } else if (SCRIPT_READ("vain", 1)) {
        CHECK(w.vain <= v[0]);
    } else if (SCRIPT_IS("forget")) {
        w.most_blocks = w.most_moved = w.vain = 0;
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
    /* Promise 6. */
    {"requests answered after half of their timeout", 0, ANY, ANY,
     "requests 20000; vain 3"},
    {"the timers of a recorded server", 256, ANY, ANY, "replay; vain 8"},
    /* Promise 7: the number of timers makes no difference. */
    {"nothing due: one tick or 2^60", 0, 0, 200,
     "many 1 0-1 1; go 1, 2, 2^20, 2^58, 2^60"},
    {"nothing due after a large bucket has moved", 0, 0, 30,
     "many 20000 4*S S; go 3*S; steps 4*S P; steps 5*S P; forget; go 6*S; "
     "steps 7*S P"},
    {"nothing due after a timer has fired", 0, 0, 12,
     "many 1 1 1; many 1 2^20 1; go 1; forget; go 2, 3, 4"},
    {"nothing due beside 300,000 timers", 0, 0, 200,
     "many 300000 2^40 2^30; go 1, 2, 1000, 2^20, 2^38"},
    {"start, move, postpone and cancel among 300,000 timers", 0, 0, 0,
     "many 300000 1 0; restart_all 1 0; restart_all 2^20 2^30; cancel_all 2; "
     "postpone_all 2^40 0; cancel_all 0"},
    {"limit 1 beside 300,000 timers", 0, 1, 400,
     "many 300000 2^50 2^40; many 3000 1 0; limits 1 2^40"},
    /* Promise 10: of n timers in a bucket, each of k calls in the step before
     * moves n / k, and each of these timers once in each wheel below. */
    {"256 calls in the step before a large bucket", 0, 640, ANY,
     "many 20000 4*S S; go 3*S; steps 4*S P; steps 5*S P"},
    {"16 calls in the step before a large bucket", 0, 5000, ANY,
     "many 20000 4*S S; go 3*S; steps 4*S 16*P"},
    {"a few hundred timers move their share, too", 0, 64, ANY,
     "many 300 4*S S; go 3*S; steps 3*S+S/2 P/16; moved 80 300"},
    {"of 32 timers, each call moves at most a batch", 256, 8, ANY,
     "many 32 1024 256; go 768; steps 1023 1; moved 32 32"},
    {"31 timers stay until their step", 256, 0, ANY,
     "many 31 1024 256; go 768; steps 1023 1"},
    {"an eighth of the step before moves an eighth", 256, 9, ANY,
     "many 2000 1024 256; go 768; steps 800 1; moved 250 300"},
    {"a call per tick", 256, 80, ANY,
     "many 20000 1024 256; go 768; steps 1044 1; moved 19900 20000; "
     "steps 1300 1"},
    {"a call after half of the step moves one half", 256, 10008, ANY,
     "many 20000 1024 256; go 896; moved 10000 10008"},
    {"a bucket that has begun to move moves until it is empty", 256, 9, ANY,
     "many 140 1024 256; go 768; steps 1023 1; moved 138 140"},
    {"a bucket of few timers stays where it is", 256, 0, ANY,
     "many 12 1024 256; go 768; steps 1280 1"},
    {"64 calls in the step before, steps of 2^56 ticks", 256, 400, ANY,
     "many 20000 2^58 2^56; go 2^57+2^56; steps 2^58+2^54 2^50"},
    {"64 calls in the step before, steps of 2^32 ticks", 256, 400, ANY,
     "many 20000 2^34 2^32; go 2^33+2^32; steps 2^34+2^30 2^26"},
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
     "many 800 1100 25600; go 900; many 128 65000 1; steps 60000 8"},
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
    /* 1 / 256 of 100,000, rounded up to batches; few timers in a batch. */
    {"a call per tick, after those that have moved were cancelled", 256, 392,
     ANY, "many 100000 512 256; steps 497 1; cancel_last 94000; steps 511 1"},
    {"a call per tick moves 128 timers in batches", 256, 8, ANY,
     "many 128 512 256; steps 511 1; moved 128 128"},
    /* A server, to 1:33 of the manual's: a tick brings 1 or 30 clients. */
    {"clients that come evenly within their timeout", 256, 8, ANY,
     "serve 30000 30000"},
    {"clients that come within a second", 256, 60, ANY, "serve 30000 1000"},
    /* Promise 8: a limit bounds the work. */
    {"limit 1 in buckets of 8 postponed timers", 256, 1, 400,
     "many 2040 512 65280; postpone_all 2^20 1; limits 1 66000"},
    {"limit 1 in a large bucket", 0, 1, 400, "many 3000 4*S S; limits 1 5*S"},
    {"limit 1 in a tick out of which timers were postponed", 0, 1, 400,
     "many 3000 100 1; postpone_all 2^20 2^10; limits 1 2^21"},
    {"limit 100 while a bucket moves ahead", 0, 100, ANY,
     "many 20000 4*S S; go 3*S; limits 100 3*S+64*P; limits 100 3*S+128*P; "
     "limits 100 5*S"},
    {"limit 10, timers that start again, and overdue timers", 0, 10, ANY,
     "again 1; many 3000 1 500; limits 10 500; many 3000 1 1; limits 10 600"},
    /* Emptied buckets (promise 8), and no memory (promise 9). */
    {"8,191 emptied buckets", 4096, 0, 100000,
     "many 8192 0 8192; cancel_all 0; go 9000"},
    {"8,191 emptied buckets, and two timers", 4096, 0, 100000,
     "many 8192 0 8192; cancel_all 8190; go 9000"},
    {"a postponed timer without memory for its wheel", 256, 4, 400,
     "many 1 1 1; fail; forget; postpone_all 2^60 1; go 2^34, 2^59, 2^61"},
    {"1,000 postponed timers without memory for their wheel", 256, 1000, ANY,
     "many 1000 1 200; fail; forget; postpone_all 2^40 1000; "
     "go 2^34, 2^40-1; steps 2^40+1000 100"},
};

static void run_pass(const row *r, uint32_t size, uint64_t tick)
{
    uint64_t step = size;
    set_up_with(tick, 0, size, 0);
    memset(&w, 0, sizeof w);
    w.tick = tick;
    random_state = 1;
    while (step < 4096)
        step *= size;
    LET('S', step);
    LET('P', step / 256);
    RUN(r->text);
    CHECK(w.most_moved <= r->moved && w.most_blocks <= r->calls);
    tear_down();
}

static void run_row(void)
{
    static const uint32_t sizes[] = {4, 16, 256};
    const row *r = &rows[tap_case_index];
    for (size_t i = 0; i < (r->size == 0 ? 3 : 1); i++)
        for (uint64_t tick = 1; tick <= 10; tick += 9) { /* 1 and 10 units */
            unsigned size = r->size == 0 ? sizes[i] : r->size;
            unsigned failed = tap_failed_checks;
            run_pass(r, size, tick);
            if (tap_failed_checks != failed)
                printf("# with wheel_size %u, tick %u\n", size, (unsigned)tick);
        }
}

TAP_MAIN_ROWS(rows, run_row)
