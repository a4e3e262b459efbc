/* calls.c - proofs of the calls of timingwheel.h that fire timers: a call that
 * its limit stops, the call after, and a call with nothing due.
 *
 * SPDX-License-Identifier: MIT
 *
 * The work is a list of timers in order: a timer fires, or cascades. The
 * function known_take_next, which replaces twi_take_next, handles the work.
 */
#include "prove.h"

#define WORK 2

static tw_timer timers[WORK], late;
static uint64_t tick_of[WORK]; /* sorted */
static bool does_fire[WORK];   /* or cascades */
static unsigned done;          /* how much of the work */
static unsigned done_at_late;  /* how much before `late` fired */

static void set_next_tick(void)
{
    tw.next_tick = UINT64_MAX;
    tw.queued = done < WORK;
    for (unsigned i = WORK; i-- > 0;)
        tw.next_tick = i >= done ? tick_of[i] : tw.next_tick;
}

/* Replaces twi_take_next. */
tw_timer *known_take_next(timingwheel *of, uint64_t target);
tw_timer *known_take_next(timingwheel *of, uint64_t target)
{
    ASSERT(of == &tw && tw.unfinished);
    if (tw.budget != 0 && !twi_is_empty(&tw.lists[TWI_OVERDUE])) {
        twi_unlink(&late.link);
        done_at_late = done;
        return &late;
    }
    for (unsigned i = 0; i < WORK; i++)
        if (i == done && tw.budget != 0 && tick_of[i] <= target) {
            twi_leap(&tw, tick_of[i]);
            done++;
            set_next_tick();
            if (does_fire[i])
                return &timers[i];
            tw.budget--;
            tw.cascaded++;
        }
    return NULL;
}

/* Replaces twi_move_ahead. */
void known_move_ahead(timingwheel *of);
void known_move_ahead(timingwheel *of)
{
    ASSERT(of == &tw && !tw.unfinished);
}

/* How much of the work is due at a tick. */
static unsigned due_at(uint64_t tick)
{
    unsigned due = 0;
    for (unsigned i = 0; i < WORK; i++)
        due += tick_of[i] <= tick;
    return due;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a < b ? b : a;
}

static void make_state(void)
{
    tw.units = 1;
    tw.clock = tw.now = nondet_u64();
    tw.activity = TWI_LIVE;
    tw.ahead_at = nondet_u64();
    for (unsigned i = 0; i < TWI_LISTS; i++)
        twi_empty_ring(&tw.lists[i]);
    for (unsigned i = 0; i < WORK; i++) {
        does_fire[i] = nondet_bool();
        tick_of[i] = nondet_u64();
        ASSUME(tick_of[i] > tw.clock);
        ASSUME(i == 0 || tick_of[i] >= tick_of[i - 1]);
        tw.count += does_fire[i];
    }
    set_next_tick();
}

/* Asserts that the first `done` timers of the work have been handled. */
static void check_work(unsigned expected, bool has_late)
{
    unsigned fired = 0;
    for (unsigned i = 0; i < WORK; i++) {
        fired += i < expected && does_fire[i];
        ASSERT((timers[i].state == TW_FIRED) == (i < expected && does_fire[i]));
    }
    ASSERT(done == expected);
    ASSERT(tw.fired == fired + has_late);
    ASSERT(tw.cascaded == expected - fired);
    ASSERT(tw.activity == TWI_LIVE);
}

/* Any limit, clock, and readings of the clock. A call with a limit handles that
 * many timers. The next call finishes the first call, and fires a timer started
 * overdue in between. Then the next call begins its own work. So both together
 * handle the same timers in the same order as without a limit. */
void limit(void)
{
    make_state();
    uint64_t first = nondet_u64(), second = nondet_u64(), most = nondet_u64();
    uint64_t target = later_of(first, tw.clock);
    unsigned due = due_at(target);
    size_t told = tw_advance_clock_limit(&tw, first, most);
    ASSERT(told == tw.fired);
    check_work(due < most ? due : (unsigned)most, false);
    ASSERT(tw.unfinished == (most != 0 && due > most));
    if (most == 0)
        return;
    if (tw.unfinished) {
        ASSERT(tw.clock == tick_of[done - 1] && tw_wait(&tw, tw.now, 1) == 0);
        REACHED("unfinished");
    } else {
        ASSERT(tw.clock == target && tw.now == target);
        REACHED("finished");
    }
    bool has_late = nondet_bool();
    if (has_late) {
        twi_push_back(&tw, &late, &tw.lists[TWI_LATE]);
        tw.count++;
    }
    (void)tw_advance_clock(&tw, second);
    target = later_of(target, second);
    ASSERT(!tw.unfinished && tw.clock == target && tw.now == target);
    check_work(due_at(target), has_late);
    if (has_late) {
        ASSERT(late.state == TW_FIRED && done_at_late == due);
        REACHED("late");
    }
}

/* A call before the next tick changes only the clock, and what begins with each
 * call: the target, `began` and the budget. */
void nothing(void)
{
    make_state();
    uint64_t now = nondet_u64(), clock = tw.clock;
    ASSUME(now < tick_of[0]);
    timingwheel before = tw;
    size_t told = tw_advance_clock_limit(&tw, now, nondet_u64());
    ASSERT(told == 0 && tw.clock == tw.now);
    ASSERT(tw.clock == clock || tw.clock == now);
    before.clock = tw.clock, before.now = tw.now;
    before.target_time = tw.target_time, before.began = tw.began;
    before.budget = tw.budget;
    const unsigned char *a = (const unsigned char *)&before;
    const unsigned char *b = (const unsigned char *)&tw;
    unsigned i = any_below(sizeof(tw));
    ASSERT(a[i] == b[i] && done == 0);
    REACHED("the end");
}
