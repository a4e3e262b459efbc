/* wait.c - proofs of the time to wait of timingwheel.h, of calls that move only
 * the clock, and of limits: with any key, perhaps one timer overdue and one
 * started overdue since.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#ifndef TICK
#define TICK UINT64_C(1)
#endif

static tw_timer overdue, late;

static twi_wheel wheel;
static bool has_last; /* a timer for tick UINT64_MAX */
static tw_timer drained;

/* Replaces twi_last_wheel. */
REPLACES(twi_wheel *, known_last_wheel, const timingwheel *of)
{
    ASSERT(of == &tw && wheel.queue_tick == UINT64_MAX);
    return has_last ? &wheel : NULL;
}

static void make_state(void)
{
    tw.tick_length = TICK;
    tw.clock_time = nondet_u64();
    tw.clock_tick = twi_tick_reached(&tw, tw.clock_time);
    tw.activity = TWI_LIVE;
    tw.busy_tick = nondet_u64();
    tw.ahead_tick = UINT64_MAX;
    tw.queue[0] = &wheel;
    tw.queued = 1;
    wheel.queue_tick = nondet_u64();
    for (unsigned i = 0; i < TWI_LISTS; i++)
        twi_empty_ring(&tw.lists[i]);
    if (nondet_bool()) { /* only in an unfinished call */
        tw.unfinished = true;
        twi_push_back(&tw, &overdue, &tw.lists[TWI_OVERDUE]);
        tw.count++;
    }
    if (nondet_bool()) {
        twi_push_back(&tw, &late, &tw.lists[TWI_LATE]);
        tw.count++;
    }
    if (nondet_bool()) { /* awaits a visit */
        twi_push_back(&tw, &drained, &tw.lists[TWI_DRAINED]);
        tw.count++;
    }
    has_last = wheel.queue_tick == UINT64_MAX && nondet_bool();
    tw.count += has_last || wheel.queue_tick != UINT64_MAX;
    ASSUME(wheel.queue_tick > tw.clock_tick);
    ASSUME(twi_queue_is_sound(&tw, 1));
}

/* Any clock, key and sleep asked for: the time to wait ends when the deadline
 * does, and never beyond `longest`. */
void wait(void)
{
    make_state();
    uint64_t tick = wheel.queue_tick;
    bool is_due = tw.unfinished || twi_is_pending(&late);
    bool is_later =
        (tick != UINT64_MAX || has_last) && tick <= UINT64_MAX / TICK;
    uint64_t deadline, now = nondet_u64(), longest = nondet_u64();
    uint64_t sleep = tw_wait(&tw, now, longest);
    bool told = tw_next_deadline(&tw, &deadline);
    ASSERT(told == (is_due || is_later));
    if (!told) {
        ASSERT(sleep == longest);
        REACHED("nothing");
    } else if (is_due) {
        ASSERT(sleep == 0 && deadline == tw.clock_time);
        REACHED("due");
    } else {
        uint64_t left = deadline <= now ? 0 : deadline - now;
        ASSERT(deadline == tick * TICK);
        ASSERT(sleep == (left < longest ? left : longest));
        REACHED("later");
    }
}

/* A sound timingwheel: a call that moves the clock alone has nothing else to
 * do. Any other call changes nothing before it begins. */
void idle(void)
{
    make_state();
    tw.ahead_tick = nondet_u64();
    ASSUME(twi_queue_is_sound(&tw, 1));
    timingwheel before = tw;
    uint64_t now = nondet_u64();
    if (twi_pass_idle_time(&tw, now)) {
        ASSERT(now >= before.clock_time && now < wheel.queue_tick);
        ASSERT(now < tw.ahead_tick && !tw.unfinished);
        ASSERT(!twi_is_pending(&late) && twi_queue_is_sound(&tw, 1));
        ASSERT(tw.clock_tick == now && tw.clock_time == now);
        before.clock_tick = before.clock_time = now;
        REACHED("idle");
    } else {
        REACHED("not idle");
    }
    const unsigned char *a = (const unsigned char *)&before;
    const unsigned char *b = (const unsigned char *)&tw;
    unsigned i = any_below(sizeof(tw));
    ASSERT(a[i] == b[i]);
}

/* Timers of an unfinished call, and of the call that begins then. */
static unsigned left[2], running;

REPLACES(tw_timer *, known_take_next, timingwheel *of, uint64_t target)
{
    ASSERT(of == &tw && tw.unfinished && target == tw.target_time);
    if (tw.budget == 0 && left[running] != 0)
        return NULL;
    if (left[running] != 0) {
        left[running]--;
        return &overdue;
    }
    tw.unfinished = false;
    return NULL;
}

/* A call begins. */
REPLACES(void, known_append_ring, twi_bucket *late, twi_bucket *to)
{
    ASSERT(late == &tw.lists[TWI_LATE] && to == &tw.lists[TWI_OVERDUE]);
    ASSERT(!tw.unfinished && left[0] == 0);
    running = 1;
}

/* Any limit, and up to two timers due in each call: an unfinished call is
 * finished first. Then the own call begins, even with nothing left of the
 * limit, and ends if nothing is left to do. */
void limit(void)
{
    tw.tick_length = 1;
    tw.activity = TWI_LIVE;
    tw.unfinished = nondet_bool();
    tw.target_time = nondet_u64();
    left[0] = tw.unfinished ? any_below(3) : 0;
    left[1] = any_below(3);
    uint64_t most = nondet_u32(), before = left[0], all = before + left[1];
    ASSUME(most != 0);
    size_t fired = tw_advance_clock_limit(&tw, nondet_u64(), most);
    ASSERT(fired == (most < all ? most : all));
    ASSERT(left[0] + left[1] == all - fired && tw.fired == fired);
    ASSERT(tw.unfinished == (fired < all));
    ASSERT(running == (most >= before) && tw.activity == TWI_LIVE);
    if (most == before && left[1] != 0)
        REACHED("begun without a budget");
    if (most < before)
        REACHED("not begun");
}
