/* queue.c - proofs of the delay queue of timingwheel.h: on any heap of QUEUED
 * wheels, in any order of ticks and levels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#ifndef QUEUED
#define QUEUED 4 /* at most 7 */
#endif

/* The delay queue only compares ticks and levels. There are at most seven
 * wheels and one new tick. So ORDERS values allow every possible order. */
#define ORDERS 8

static twi_wheel w0, w1, w2, w3, w4, w5, w6;
static twi_wheel *const wheels[] = {&w0, &w1, &w2, &w3, &w4, &w5, &w6};
static uint64_t expected[QUEUED]; /* the expected tick of each wheel */

/* Any wheel. A branch per wheel, so that CBMC knows the wheel on each path. */
static uint32_t any_wheel(void)
{
    uint32_t i = 0;
    while (i + 1 < QUEUED && nondet_bool())
        i++;
    return i;
}

/* Makes a heap. Wheel i has place i in the heap. That loses nothing: wheels
 * differ by their levels, and the levels are arbitrary. */
static void make_heap(void)
{
    uint64_t levels = 0;
    tw.queued = QUEUED;
    for (uint32_t i = 0; i <= QUEUED + 1; i++)
        tw.queue[i] = &tw.waiting;
    for (uint32_t i = 0; i < QUEUED; i++) {
        wheels[i]->shift = any_below(ORDERS);
        ASSUME((levels >> wheels[i]->shift & 1) == 0);
        levels |= UINT64_C(1) << wheels[i]->shift;
        wheels[i]->queue_index = i;
        wheels[i]->queue_tick = expected[i] = any_below(ORDERS);
        tw.queue[i] = wheels[i];
        if (i > 0)
            ASSUME(!twi_is_before(tw.queue[i], tw.queue[(i - 1) / 2]));
    }
}

/* Asserts the order of the heap. Each wheel stands in the heap once, with its
 * tick, at its queue_index, except the wheel `without`. The place after the
 * heap is filled. */
static void check_heap(uint32_t without)
{
    uint32_t queued = QUEUED - (without < QUEUED);
    ASSERT(tw.queued == queued);
    for (uint32_t i = 1; i < queued; i++)
        ASSERT(!twi_is_before(tw.queue[i], tw.queue[(i - 1) / 2]));
    for (uint32_t i = 0; i < QUEUED; i++) {
        uint32_t index = wheels[i]->queue_index;
        if (i == without)
            continue;
        ASSERT(index < queued);
        ASSERT(tw.queue[index] == wheels[i]);
        ASSERT(wheels[i]->queue_tick == expected[i]);
    }
    ASSERT(tw.queue[queued] == &tw.waiting);
}

/* Any wheel's key changes. */
void set(void)
{
    uint32_t i = any_wheel();
    make_heap();
    expected[i] = any_below(ORDERS);
    twi_queue_set(&tw, wheels[i], expected[i]);
    check_heap(QUEUED);
    REACHED("the end");
}

/* Any wheel goes. */
void go(void)
{
    uint32_t i = any_wheel();
    make_heap();
    twi_queue_set(&tw, wheels[i], UINT64_MAX);
    check_heap(i);
    REACHED("the end");
}

/* The last wheel of the heap enters only now. */
void enter(void)
{
    uint32_t i = QUEUED - 1;
    make_heap();
    tw.queue[--tw.queued] = &tw.waiting;
    wheels[i]->queue_tick = UINT64_MAX;
    expected[i] = any_below(ORDERS);
    twi_queue_set(&tw, wheels[i], expected[i]);
    check_heap(QUEUED);
    REACHED("the end");
}

/* Any wheels with a timer for the last tick: `waiting` is found first, then the
 * coarsest wheel. */
void last(void)
{
    static twi_bucket buckets[3][4];
    static twi_link timer;
    twi_wheel *expected_wheel = NULL;
    set_size(1);
    tw.queue[0] = &tw.waiting;
    for (unsigned level = 0; level < 4; level++) {
        bool has_timer = nondet_bool();
        twi_bucket *bucket =
            level == 3 ? &tw.lists[TWI_WAITING] : &buckets[level][3];
        twi_wheel *wheel = level == 3 ? &tw.waiting : wheels[level];
        bucket->ring.next = has_timer ? &timer : &bucket->ring;
        wheel->shift = level;
        wheel->buckets = level == 3 ? NULL : buckets[level];
        if (level != 3)
            tw.wheels[level] = wheel;
        expected_wheel = has_timer ? wheel : expected_wheel;
    }
    ASSERT(twi_last_wheel(&tw) == expected_wheel);
    REACHED("the end");
}
