/* wait.c - proofs of the time to wait of timingwheel.h, with any key, and
 * perhaps one timer overdue and one started overdue since.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

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

static void make_state(uint64_t tick_length)
{
    tw.tick_length = tick_length;
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
static void check_wait(uint64_t tick_length)
{
    make_state(tick_length);
    uint64_t tick = wheel.queue_tick;
    bool is_due = tw.unfinished || twi_is_pending(&late);
    bool is_later =
        (tick != UINT64_MAX || has_last) && tick <= UINT64_MAX / tick_length;
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
        ASSERT(deadline == tick * tick_length);
        ASSERT(sleep == (left < longest ? left : longest));
        REACHED("later");
    }
}

void wait(void)
{
    check_wait(1);
}

void wait_rounded(void)
{
    check_wait(1024);
}
