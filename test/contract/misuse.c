/* misuse.c - misuse that a build with TW_DEBUG detects. Each kind of misuse ends
 * in TW_ASSERT, with a sentence that says the mistake and the remedy.
 *
 *     misuse [CASE...]
 *
 * Here TW_ASSERT jumps out of the library, because a failed assertion would end
 * the program. No case uses the wheel afterwards, and the memory of the wheels
 * is an array, so that nothing leaks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include "../lib/tap.h"

static jmp_buf caught;
static const char *sentence; /* of the failed assertion; NULL: none */

static void fail_assertion(const char *text)
{
    sentence = text;
    longjmp(caught, 1);
}

static union {
    unsigned char bytes[1 << 20];
    uint64_t align;
} memory;
static size_t memory_used;
static void (*in_malloc)(void); /* what TW_MALLOC does with the wheel */
static void (*in_free)(void);

static void *take(size_t size)
{
    void *block = memory.bytes + memory_used;
    if (in_malloc != NULL)
        in_malloc();
    memory_used += (size + 63) / 64 * 64;
    return memory_used <= sizeof memory.bytes ? block : NULL;
}

static void give(void)
{
    if (in_free != NULL)
        in_free();
}

#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) ((void)(context), (void)(pointer), give())
#define TW_DEBUG
#define TW_ASSERT(expr) ((expr) ? (void)0 : fail_assertion(#expr))
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static timingwheel tw, other, copy;
static tw_timer timers[1000];

static void set_up(void)
{
    static const tw_config config = {1, 0, 16, 0, NULL};
    sentence = NULL;
    in_malloc = in_free = NULL;
    memory_used = 0;
    tw_init(&tw, &config);
    tw_init(&other, &config);
    for (size_t i = 0; i < LENGTH(timers); i++)
        tw_timer_init(&timers[i], NULL);
}

static void start(size_t i, uint64_t deadline)
{
    tw_start(&tw, &timers[i], deadline);
}

static void start_many(size_t count, uint64_t deadline)
{
    for (size_t i = 0; i < count; i++)
        start(i, deadline + i % 8);
}

static void cancel(size_t i)
{
    tw_cancel(&tw, &timers[i]);
}

static void advance(uint64_t now)
{
    tw_advance_clock(&tw, now);
}

/* ------------------------------------------------ damage to a pending timer */

static void zero(tw_timer *timer)
{
    memset(timer, 0, sizeof *timer);
}

static void initialise(tw_timer *timer)
{
    tw_timer_init(timer, NULL);
}

/* Overwrites a timer with another pending timer. */
static void overwrite(tw_timer *timer)
{
    tw_start(&tw, &timers[999], 4000);
    *timer = timers[999];
}

static void (*const damages[])(tw_timer *) = {zero, initialise, overwrite};
static void (*damage)(tw_timer *);

static void fire_alone(void)
{
    start(0, 10);
    damage(&timers[0]);
    advance(10);
}

/* Three timers in a bucket; the second is damaged. */
static void damage_second(uint64_t deadline)
{
    for (size_t i = 0; i < 3; i++)
        start(i, deadline);
    damage(&timers[1]);
}

static void fire_among_others(void)
{
    damage_second(10);
    advance(10);
}

static void poll_coarse(void)
{
    damage_second(100);
    tw_poll(&tw, 100);
    tw_poll(&tw, 100);
}

static void fire_overdue(void)
{
    damage_second(0);
    advance(0);
}

static void cancel_before(void)
{
    damage_second(10);
    cancel(0);
}

static void cancel_behind(void)
{
    damage_second(10);
    cancel(2);
}

static void restart_neighbour(void)
{
    damage_second(10);
    start(0, 12);
}

static void move_neighbour(void)
{
    damage_second(10);
    tw_move(&tw, &timers[0], &timers[7]);
}

static void start_behind(void)
{
    start(0, 10);
    damage(&timers[0]);
    start(1, 10);
}

static void visit(tw_timer *timer, void *context)
{
    (void)timer, (void)context;
}

static void foreach_damaged(void)
{
    damage_second(10);
    tw_foreach(&tw, visit, NULL);
}

static void drain_damaged(void)
{
    damage_second(10);
    tw_drain(&tw, NULL, NULL);
}

static void destroy_damaged(void)
{
    damage_second(300);
    tw_destroy(&tw);
}

static void move_down(void)
{
    start_many(64, 320);
    damage(&timers[62]);
    advance(320);
}

static void move_ahead(void)
{
    start_many(990, 512);
    damage(&timers[988]);
    for (uint64_t now = 256; now < 512; now += 16)
        advance(now);
}

/* ------------------------------------------------------- a timer elsewhere */

static void start_elsewhere(void)
{
    start(0, 10);
    tw_start(&other, &timers[0], 10);
}

static void start_far_elsewhere(void)
{
    tw_start(&other, &timers[1], 100000);
    start(0, 100000);
    tw_start_within(&other, &timers[0], 100000, 200000);
}

static void start_overdue_elsewhere(void)
{
    start(0, 0);
    tw_start(&other, &timers[0], 10);
}

static void postpone_elsewhere(void)
{
    start(0, 10);
    tw_postpone(&other, &timers[0], 20);
}

static void cancel_elsewhere(void)
{
    start(0, 10);
    tw_cancel(&other, &timers[0]);
}

static void move_elsewhere(void)
{
    start(0, 10);
    tw_move(&other, &timers[0], &timers[1]);
}

static void move_onto_pending(void)
{
    start(0, 10);
    start(1, 10);
    tw_move(&tw, &timers[0], &timers[1]);
}

static void start_uninitialised(void)
{
    memset(&timers[0], 0xa5, sizeof timers[0]);
    start(0, 10);
}

static void postpone_uninitialised(void)
{
    memset(&timers[0], 0xa5, sizeof timers[0]);
    tw_postpone(&tw, &timers[0], 10);
}

static void cancel_uninitialised(void)
{
    memset(&timers[0], 0xa5, sizeof timers[0]);
    cancel(0);
}

/* ------------------------------------- inside callbacks, visitors and TW_MALLOC */

static void do_advance(void)
{
    advance(20);
}

static void do_limit(void)
{
    tw_advance_clock_limit(&tw, 20, 5);
}

static void do_poll(void)
{
    tw_poll(&tw, 20);
}

static void do_trim(void)
{
    tw_trim(&tw);
}

static void do_destroy(void)
{
    tw_destroy(&tw);
}

static void do_start(void)
{
    start(5, 10);
}

static void do_cancel(void)
{
    cancel(0);
}

static void do_postpone(void)
{
    tw_postpone(&tw, &timers[0], 500);
}

static void do_move(void)
{
    tw_move(&tw, &timers[0], &timers[1]);
}

static void do_reserve(void)
{
    tw_reserve(&tw, 100000);
}

static void do_drain(void)
{
    tw_drain(&tw, NULL, NULL);
}

static void do_foreach(void)
{
    tw_foreach(&tw, visit, NULL);
}

static void (*const all_calls[])(void) = {
    do_advance, do_limit,    do_poll, do_trim,    do_destroy, do_start,
    do_cancel,  do_postpone, do_move, do_reserve, do_drain,   do_foreach};
#define ALL LENGTH(all_calls)
static void (*call)(void);

static void make_call(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    call();
}

static void make_call_in_visit(tw_timer *timer, void *context)
{
    (void)timer, (void)context;
    call();
}

static void in_callback(void)
{
    tw_timer_init(&timers[0], make_call);
    start(0, 10);
    advance(10);
}

static void in_foreach(void)
{
    start(0, 10);
    tw_foreach(&tw, make_call_in_visit, NULL);
}

static void in_drain(void)
{
    start(0, 10);
    start(1, 10);
    tw_drain(&tw, make_call_in_visit, NULL);
}

static void malloc_uses_its_wheel(void)
{
    start(0, 10);
    in_malloc = call;
    start(9, 100);
}

static void free_uses_its_wheel(void)
{
    start(0, 10);
    start(9, 100);
    cancel(9);
    in_free = call;
    tw_trim(&tw);
}

/* ------------------------------- before tw_init, after tw_destroy, elsewhere */

static void before_init(void)
{
    memset((void *)&tw, 0, sizeof tw);
    call();
}

static void after_destroy(void)
{
    tw_destroy(&tw);
    call();
}

/* A copy at the place of the wheel, and a wheel that has gone elsewhere. */
static void on_a_copy(void)
{
    start(0, 10);
    tw_start(&other, &timers[1], 10);
    tw = other;
    timers[0] = timers[1];
    call();
}

static void where_it_went(void)
{
    copy = tw;
    memset((void *)&tw, 0, sizeof tw);
    tw_start(&copy, &timers[0], 10);
}

/* ---------------------------------------------------------------- the table */

static const char damaged[] = "freed, moved or overwritten";
static const char elsewhere[] = "pending on another wheel";
static const char uninitialised[] = "was never initialised";
static const char inside[] = "must not advance, poll, trim or destroy";
static const char allocating[] = "TW_MALLOC or TW_FREE uses the wheel";
static const char unready[] = "before tw_init or after tw_destroy";
static const char copied[] = "moved or copied";

/* A row with `damaged` runs once per kind of damage. A row with a number of
 * `calls` runs once per call. */
static const struct {
    const char *name;
    void (*misuse)(void);
    const char *words; /* of the assertion */
    size_t calls;      /* of all_calls, from the first on; 0: none */
} rows[] = {
    {"a damaged timer, alone in its bucket, fires", fire_alone, damaged, 0},
    {"a damaged timer fires among others", fire_among_others, damaged, 0},
    {"a damaged timer of a coarse bucket is polled", poll_coarse, damaged, 0},
    {"a damaged overdue timer fires", fire_overdue, damaged, 0},
    {"the timer before a damaged timer is cancelled", cancel_before, damaged,
     0},
    {"the timer behind a damaged timer is cancelled", cancel_behind, damaged,
     0},
    {"the neighbour of a damaged timer is restarted", restart_neighbour,
     damaged, 0},
    {"the neighbour of a damaged timer moves", move_neighbour, damaged, 0},
    {"a timer is started behind a damaged timer", start_behind, damaged, 0},
    {"a damaged timer is visited", foreach_damaged, damaged, 0},
    {"a damaged timer is drained", drain_damaged, damaged, 0},
    {"a wheel with a damaged timer is destroyed", destroy_damaged, damaged, 0},
    {"a bucket with a damaged timer moves down", move_down, damaged, 0},
    {"a large bucket with a damaged timer moves ahead", move_ahead, damaged, 0},
    {"a timer is started on a second wheel", start_elsewhere, elsewhere, 0},
    {"a timer is started on a second wheel, far ahead", start_far_elsewhere,
     elsewhere, 0},
    {"an overdue timer is started on a second wheel", start_overdue_elsewhere,
     elsewhere, 0},
    {"a timer is postponed on a second wheel", postpone_elsewhere, elsewhere,
     0},
    {"a timer is cancelled on a second wheel", cancel_elsewhere, elsewhere, 0},
    {"a timer is moved on a second wheel", move_elsewhere, elsewhere, 0},
    {"tw_move into a pending timer", move_onto_pending,
     "tw_move into a pending timer", 0},
    {"a timer that was never initialised is started", start_uninitialised,
     uninitialised, 0},
    {"a timer that was never initialised is postponed", postpone_uninitialised,
     uninitialised, 0},
    {"a timer that was never initialised is cancelled", cancel_uninitialised,
     uninitialised, 0},
    {"a callback advances, polls, trims or destroys", in_callback, inside, 5},
    {"a visitor of tw_foreach does", in_foreach, inside, 5},
    {"a visitor of tw_drain does", in_drain, inside, 5},
    {"TW_MALLOC calls back", malloc_uses_its_wheel, allocating, ALL},
    {"TW_FREE calls back", free_uses_its_wheel, allocating, ALL},
    {"a call before tw_init", before_init, unready, ALL},
    {"a call after tw_destroy", after_destroy, unready, ALL},
    {"a call for a copy of a wheel", on_a_copy, copied, ALL},
    {"a start where a wheel has gone", where_it_went, copied, 0},
};

static void run_row(void)
{
    size_t i = tap_case_index;
    size_t runs = rows[i].words == damaged ? LENGTH(damages) : 1;
    runs = rows[i].calls != 0 ? rows[i].calls : runs;
    for (volatile size_t run = 0; run < runs; run++) {
        set_up();
        damage = damages[run % LENGTH(damages)];
        call = all_calls[run % LENGTH(all_calls)];
        if (setjmp(caught) == 0)
            rows[i].misuse();
        if (!CHECK(sentence != NULL && strstr(sentence, rows[i].words)))
            printf("# run %u: \"%s\"\n", (unsigned)run,
                   sentence == NULL ? "no assertion" : sentence);
    }
}

/* ------------------------------------------------------------- proper use */

static void restart(timingwheel *wheel, tw_timer *timer)
{
    if (tw_now(wheel) < 5000)
        tw_start(wheel, timer, tw_after(tw_now(wheel), 700));
}

static void visit_cancel(tw_timer *timer, void *context)
{
    (void)context;
    tw_cancel(&tw, timer);
}

/* Visits and cancels the timers that wait for this visitor. */
static void visit_nested(tw_timer *timer, void *context)
{
    tw_start(&tw, timer, 20000);
    tw_foreach(&tw, context == NULL ? visit : visit_cancel, NULL);
}

static void use_properly(void)
{
    static tw_timer moved;
    for (size_t i = 0; i < 64; i++) {
        tw_timer_init(&timers[i], restart);
        start(i, 600 + i);
        start(i, 600 + i / 2);
        if (i % 3 == 0)
            tw_postpone(&tw, &timers[i], 900);
        if (i % 5 == 0)
            cancel(i);
    }
    moved = timers[1]; /* the object was copied before tw_move */
    tw_move(&tw, &timers[1], &moved);
    tw_foreach(&tw, visit, NULL);
    advance(650);
    start_many(700, 3000);
    advance(10000);
    CHECK(tw_count(&tw) == 0 && tw_check(&tw));
    for (size_t i = 0; i < 20; i++)
        start(i, 10000 + i * 50);
    tw_drain(&tw, visit_nested, NULL);
    tw_drain(&tw, visit_nested, &tw);
    CHECK(tw_drain(&tw, NULL, NULL) == 0 && tw_check(&tw));
    tw_trim(&tw);
    tw_start(&other, &timers[0], 10);
    tw_destroy(&tw);
    tw_destroy(&other);
}

static void proper_use(void)
{
    set_up();
    if (setjmp(caught) == 0)
        use_properly();
    if (!CHECK(sentence == NULL))
        printf("# \"%s\"\n", sentence);
}

int main(int argc, char **argv)
{
    tap_case all[LENGTH(rows) + 1];
    for (size_t i = 0; i < LENGTH(rows); i++) {
        all[i].name = rows[i].name;
        all[i].run = run_row;
    }
    all[LENGTH(rows)].name = "proper use asserts nothing";
    all[LENGTH(rows)].run = proper_use;
    return TAP_RUN(all, argc, argv);
}
