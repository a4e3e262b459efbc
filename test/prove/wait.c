/* wait.c - proofs of the time to wait of timingwheel.h, with any key, and
 * perhaps one timer overdue and one started overdue since.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

static tw_timer overdue, late;

static void make_state(void)
{
    tw.units = 1;
    tw.clock = tw.now = nondet_u64();
    tw.activity = TWI_LIVE;
    tw.next_tick = tw.ahead_at = UINT64_MAX;
    for (unsigned i = 0; i < TWI_LISTS; i++)
        twi_empty_ring(&tw.lists[i]);
    if (nondet_bool()) { /* only in an unfinished call */
        tw.unfinished = true;
        tw.target_time = nondet_u64();
        ASSUME(tw.target_time >= tw.clock);
        twi_push_back(&tw, &overdue, &tw.lists[TWI_OVERDUE]);
        tw.count++;
    }
    if (nondet_bool()) {
        late.deadline = nondet_u64();
        ASSUME(late.deadline <= tw.clock);
        twi_push_back(&tw, &late, &tw.lists[TWI_LATE]);
        tw.count++;
    }
}

/* Any clock, key and sleep asked for: the time to wait ends when the deadline
 * does, and never beyond `longest`. */
static void check_wait(uint64_t units)
{
    static twi_wheel wheel;
    make_state();
    tw.units = units;
    tw.clock = twi_tick_reached(&tw, tw.now);
    if (nondet_bool()) {
        tw.next_tick = wheel.queue_tick = nondet_u64();
        tw.queue[0] = &wheel;
        tw.queued = 1;
        tw.count++;
        ASSUME(tw.next_tick > tw.clock);
    }
    bool is_due = tw.unfinished || twi_is_pending(&late);
    uint64_t deadline, now = nondet_u64(), longest = nondet_u64();
    uint64_t sleep = tw_wait(&tw, now, longest);
    bool told = tw_next_deadline(&tw, &deadline);
    ASSERT(told ==
           (is_due || (tw.queued != 0 && tw.next_tick <= UINT64_MAX / units)));
    if (!told) {
        ASSERT(sleep == longest);
        REACHED("nothing");
    } else if (is_due) {
        ASSERT(sleep == 0 && deadline == tw.now);
        REACHED("due");
    } else {
        uint64_t left = deadline <= now ? 0 : deadline - now;
        ASSERT(deadline == tw.next_tick * units);
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
