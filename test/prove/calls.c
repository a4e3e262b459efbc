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

/* Takes timer `i` of the work, which is the first. */
static tw_timer *take(unsigned i)
{
    ASSERT(tw.unfinished && tw.budget != 0 && tw.clock_tick == tick_of[i]);
    done++;
    set_key();
    if (does_fire[i])
        return &timers[i];
    tw.budget--;
    tw.cascaded++;
    return NULL;
}

static tw_timer *known_take(void)
{
    ASSERT(done < WORK);
    for (unsigned i = 0; i < WORK; i++)
        if (i == done)
            return take(i);
    return NULL;
}

REPLACES(tw_timer *, known_take_finest, timingwheel *of, twi_wheel *from)
{
    ASSERT(of == &tw && from == &wheel && wheel.shift == 0);
    return known_take();
}

REPLACES(tw_timer *, known_take_coarse, timingwheel *of, twi_wheel *from)
{
    ASSERT(of == &tw && from == &wheel && wheel.shift != 0);
    return known_take();
}

/* Replaces twi_take_front: the only overdue timer is `late`. */
REPLACES(tw_timer *, known_take_front, timingwheel *of, twi_bucket *bucket)
{
    ASSERT(of == &tw && bucket == &tw.lists[TWI_OVERDUE] && tw.budget != 0);
    twi_empty_ring(&tw.lists[TWI_OVERDUE]);
    done_at_late = done;
    return &late;
}

/* Puts `late`, which is in no ring, into an empty list. */
static void put_late(twi_bucket *list)
{
    list->ring.next = list->ring.prev = &late.link;
    late.state = TW_PENDING;
}

/* Replaces twi_append_ring: `late` is the only timer in the lists. */
REPLACES(void, known_append_ring, twi_bucket *from, twi_bucket *to)
{
    ASSERT(from == &tw.lists[TWI_LATE] && to == &tw.lists[TWI_OVERDUE]);
    if (twi_is_empty(&tw.lists[TWI_LATE]))
        return;
    twi_empty_ring(&tw.lists[TWI_LATE]);
    put_late(&tw.lists[TWI_OVERDUE]);
}

/* Replaces twi_last_wheel. */
REPLACES(twi_wheel *, known_last_wheel, const timingwheel *of)
{
    ASSERT(of == &tw && wheel.queue_tick == UINT64_MAX);
    return done < WORK ? &wheel : NULL;
}

/* Replaces twi_next_tick. */
REPLACES(uint64_t, known_next_tick, const timingwheel *of)
{
    ASSERT(of == &tw);
    return wheel.queue_tick;
}

/* Replaces twi_move_ahead. */
REPLACES(void, known_move_ahead, timingwheel *of)
{
    ASSERT(of == &tw && !tw.unfinished);
    tw.ahead_tick = nondet_u64();
}

/* Replaces twi_take_next in the proof `limit`. */
REPLACES(tw_timer *, known_take_next, timingwheel *of, uint64_t target)
{
    ASSERT(of == &tw && tw.unfinished);
    bool is_late = !twi_is_empty(&tw.lists[TWI_OVERDUE]);
    if (is_late && tw.budget != 0)
        return known_take_front(of, &tw.lists[TWI_OVERDUE]);
    for (unsigned i = 0; i < WORK && !is_late; i++)
        if (i == done && tick_of[i] <= target && tw.budget != 0) {
            tw.clock_tick = tick_of[i];
            tw_timer *timer = take(i);
            if (timer != NULL)
                return timer;
        }
    if (!is_late && (done == WORK || tick_of[done] > target))
        twi_end_call(&tw, target);
    return NULL;
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
    twi_empty_ring(&tw.lists[TWI_OVERDUE]);
    twi_empty_ring(&tw.lists[TWI_LATE]);
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

/* Any limit, clock and reading of the clock, perhaps an unfinished call, and a
 * timer started overdue. First the unfinished call goes on with its own target.
 * When that call has ended, the next begins, even with nothing left of the
 * limit: the overdue timer fires, then what is due by `now`. So limits do not
 * change which timers fire, nor their order. */
void limit(void)
{
    make_state();
    uint64_t now = nondet_u64(), most = nondet_u64(), clock = tw.clock_tick;
    uint64_t target = later_of(now, clock);
    uint64_t begins_at = clock; /* the call's own part */
    unsigned due_before = 0;
    bool has_late = nondet_bool();
    if (has_late) {
        put_late(&tw.lists[TWI_LATE]);
        tw.count++;
        tw.busy_tick = 0;
    }
    if (nondet_bool()) {
        tw.unfinished = true;
        tw.busy_tick = 0;
        tw.target_time = begins_at = nondet_u64();
        ASSUME(begins_at >= clock && most != 0);
        due_before = due_at(begins_at);
        target = most < due_before ? begins_at : later_of(now, begins_at);
    }
    bool does_begin = most >= due_before && most != 0;
    unsigned due = due_at(target), all = due + (has_late && does_begin);
    bool fires_late = has_late && does_begin && most > due_before;
    size_t told = tw_advance_clock_limit(&tw, now, most);
    ASSERT(told == tw.fired);
    check_work(all < most ? due : (unsigned)most - fires_late, fires_late);
    ASSERT(!fires_late ||
           (late.state == TW_FIRED && done_at_late == due_before));
    if (most == 0)
        return;
    ASSERT(tw.unfinished == (all > most));
    if (!tw.unfinished) {
        ASSERT(tw.clock_tick == target && tw.clock_time == target);
        REACHED("finished");
    } else {
        uint64_t last = done == 0 ? clock : tick_of[done - 1];
        ASSERT(tw.clock_tick == later_of(last, does_begin ? begins_at : clock));
        REACHED("unfinished");
    }
    if (fires_late && done > due_before)
        REACHED("an overdue timer between the calls");
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
        put_late(nondet_bool() ? &tw.lists[TWI_LATE] : &tw.lists[TWI_OVERDUE]);
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

/* Any target and budget, in a call with perhaps an overdue timer: the overdue
 * timer comes first, then the first timer of the work that fires. If nothing is
 * left, the call ends. */
void next(void)
{
    make_state();
    tw.unfinished = true;
    tw.busy_tick = 0;
    tw.target_time = nondet_u64();
    tw.budget = nondet_u64();
    ASSUME(tw.target_time >= tw.clock_time);
    bool is_late = nondet_bool();
    if (is_late)
        put_late(&tw.lists[TWI_OVERDUE]);
    uint64_t budget = tw.budget, due = due_at(tw.target_time);
    unsigned first = 0; /* of the work: fires or is not due */
    while (first < due && !does_fire[first])
        first++;
    const tw_timer *timer = twi_take_next(&tw, tw.target_time);
    ASSERT(tw.unfinished || twi_queue_is_sound(&tw, 1));
    if (is_late) {
        ASSERT(timer == (budget == 0 ? NULL : &late) && done == 0);
        ASSERT(tw.unfinished && tw.clock_tick == tw.clock_time);
        REACHED("overdue");
    } else if (first < due && first < budget) {
        ASSERT(timer == &timers[first] && done == first + 1);
        ASSERT(tw.unfinished && tw.clock_tick == tick_of[first]);
        REACHED("a timer");
    } else if (first < due || budget < due) {
        ASSERT(timer == NULL && done == budget && tw.unfinished);
        REACHED("no budget");
    } else {
        ASSERT(timer == NULL && done == due && !tw.unfinished);
        ASSERT(tw.clock_tick == tw.target_time);
        REACHED("the end");
    }
}
