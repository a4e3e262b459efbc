/* calls.c - proofs of the calls of timingwheel.h that fire timers: a call that
 * its limit stops, the call after, and a call with nothing due.
 *
 * SPDX-License-Identifier: MIT
 *
 * The work is a list of timers in order: a timer fires, or cascades. The
 * function known_take, which replaces twi_take_finest and twi_take_coarse, takes
 * the first timer of the work.
 */
#include "prove.h"

#define WORK 2

static tw_timer timers[WORK], late;
static uint64_t tick_of[WORK]; /* sorted */
static bool does_fire[WORK];   /* or cascades */
static unsigned done;          /* how much of the work */
static unsigned done_at_late;  /* how much before `late` fired */

static twi_wheel wheel; /* has the work */

static void set_key(void)
{
    wheel.queue_tick = UINT64_MAX;
    for (unsigned i = WORK; i-- > 0;)
        wheel.queue_tick = i >= done ? tick_of[i] : wheel.queue_tick;
}

static tw_timer *known_take(void)
{
    tw_timer *timer = NULL;
    ASSERT(tw.unfinished && tw.budget != 0 && done < WORK);
    for (unsigned i = 0; i < WORK; i++)
        if (i == done) {
            ASSERT(tw.clock_tick == tick_of[i]);
            timer = &timers[i];
            if (!does_fire[i]) {
                timer = NULL;
                tw.budget--;
                tw.cascaded++;
            }
        }
    done++;
    set_key();
    return timer;
}

tw_timer *known_take_finest(timingwheel *of, twi_wheel *from);
tw_timer *known_take_finest(timingwheel *of, twi_wheel *from)
{
    ASSERT(of == &tw && from == &wheel && wheel.shift == 0);
    return known_take();
}

tw_timer *known_take_coarse(timingwheel *of, twi_wheel *from);
tw_timer *known_take_coarse(timingwheel *of, twi_wheel *from)
{
    ASSERT(of == &tw && from == &wheel && wheel.shift != 0);
    return known_take();
}

/* Replaces twi_take_front: the only overdue timer is `late`. */
tw_timer *known_take_front(timingwheel *of, twi_bucket *bucket);
tw_timer *known_take_front(timingwheel *of, twi_bucket *bucket)
{
    ASSERT(of == &tw && bucket == &tw.lists[TWI_OVERDUE] && tw.budget != 0);
    twi_unlink(&late.link);
    done_at_late = done;
    return &late;
}

/* Replaces twi_last_wheel. */
twi_wheel *known_last_wheel(const timingwheel *of);
twi_wheel *known_last_wheel(const timingwheel *of)
{
    ASSERT(of == &tw && wheel.queue_tick == UINT64_MAX);
    return done < WORK ? &wheel : NULL;
}

/* Replaces twi_move_ahead. */
void known_move_ahead(timingwheel *of);
void known_move_ahead(timingwheel *of)
{
    ASSERT(of == &tw && !tw.unfinished);
    tw.ahead_tick = nondet_u64();
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
    tw.tick_length = 1;
    tw.clock_tick = tw.clock_time = nondet_u64();
    tw.activity = TWI_LIVE;
    tw.ahead_tick = nondet_u64();
    tw.busy_tick = nondet_u64();
    for (unsigned i = 0; i < TWI_LISTS; i++)
        twi_empty_ring(&tw.lists[i]);
    for (unsigned i = 0; i < WORK; i++) {
        does_fire[i] = nondet_bool();
        tick_of[i] = nondet_u64();
        ASSUME(tick_of[i] > tw.clock_tick);
        ASSUME(i == 0 || tick_of[i] >= tick_of[i - 1]);
        tw.count += does_fire[i];
    }
    set_key();
    wheel.shift = any_below(2);
    tw.queue[0] = &wheel;
    tw.queued = 1;
    ASSUME(twi_queue_is_sound(&tw, 1));
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
    uint64_t target = later_of(first, tw.clock_tick);
    unsigned due = due_at(target);
    size_t told = tw_advance_clock_limit(&tw, first, most);
    ASSERT(told == tw.fired);
    check_work(due < most ? due : (unsigned)most, false);
    ASSERT(tw.unfinished == (most != 0 && due > most));
    if (most == 0)
        return;
    if (tw.unfinished) {
        ASSERT(tw.clock_tick == tick_of[done - 1] &&
               tw_wait(&tw, tw.clock_time, 1) == 0);
        REACHED("unfinished");
    } else {
        ASSERT(tw.clock_tick == target && tw.clock_time == target);
        REACHED("finished");
    }
    bool has_late = nondet_bool();
    if (has_late) {
        twi_push_back(&tw, &late, &tw.lists[TWI_LATE]);
        tw.count++;
        tw.busy_tick = 0;
    }
    ASSERT(twi_queue_is_sound(&tw, 1));
    (void)tw_advance_clock(&tw, second);
    target = later_of(target, second);
    ASSERT(!tw.unfinished && tw.clock_tick == target &&
           tw.clock_time == target);
    check_work(due_at(target), has_late);
    ASSERT(twi_queue_is_sound(&tw, 1));
    if (has_late) {
        ASSERT(late.state == TW_FIRED && done_at_late == due);
        REACHED("late");
    }
}

/* Asserts that only `before`, without the fields that a proof has equated, is
 * in the timingwheel. */
static void check_equal(const timingwheel *before)
{
    const unsigned char *a = (const unsigned char *)before;
    const unsigned char *b = (const unsigned char *)&tw;
    unsigned i = any_below(sizeof(tw));
    ASSERT(a[i] == b[i] && done == 0);
}

/* A sound timingwheel, perhaps with an overdue timer or an unfinished call: a
 * call that moves the clock alone has nothing else to do. Any other call
 * changes nothing before it begins. */
void idle(void)
{
    make_state();
    if (nondet_bool())
        twi_push_back(&tw, &late,
                      &tw.lists[nondet_bool() ? TWI_LATE : TWI_OVERDUE]);
    tw.unfinished = nondet_bool();
    ASSUME(twi_queue_is_sound(&tw, 1));
    timingwheel before = tw;
    uint64_t now = nondet_u64();
    if (twi_is_idle(&tw, now)) {
        ASSERT(now >= before.clock_time && now < tick_of[0]);
        ASSERT(now < tw.ahead_tick && !tw.unfinished);
        ASSERT(!twi_is_pending(&late) && tw.clock_tick == now);
        ASSERT(tw.clock_time == now && twi_queue_is_sound(&tw, 1));
        before.clock_tick = before.clock_time = now;
        REACHED("idle");
    } else {
        REACHED("not idle");
    }
    check_equal(&before);
}

/* A call before the next tick changes only the clock, what begins with each
 * call (the target, began_tick and the budget), and the ticks at which calls
 * have something to do. */
void nothing(void)
{
    make_state();
    uint64_t now = nondet_u64(), clock = tw.clock_time;
    ASSUME(now < tick_of[0]);
    timingwheel before = tw;
    size_t told = tw_advance_clock_limit(&tw, now, nondet_u64());
    ASSERT(told == 0 && tw.clock_tick == tw.clock_time);
    ASSERT(tw.clock_time == clock || tw.clock_time == now);
    before.clock_tick = before.clock_time = tw.clock_time;
    before.target_time = tw.target_time, before.began_tick = tw.began_tick;
    before.busy_tick = tw.busy_tick, before.ahead_tick = tw.ahead_tick;
    before.budget = tw.budget;
    check_equal(&before);
    REACHED("the end");
}
