/* queue.c - proofs of the delay queue of timingwheel.h: on any heap of up to
 * QUEUED wheels, in any order of ticks and levels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#ifndef QUEUED
#define QUEUED 5 /* at most 7 */
#endif

/* The delay queue only compares ticks and levels. There are at most seven
 * wheels and one new tick. So ORDERS values allow every possible order. */
#define ORDERS 8

/* The wheels. Each wheel is a separate object, to help CBMC. */
static twi_wheel w0, w1, w2, w3, w4, w5, w6;
static twi_wheel *const wheels[] = {&w0, &w1, &w2, &w3, &w4, &w5, &w6};
static uint64_t expected[QUEUED]; /* the expected tick of each wheel */

/* Makes a heap of `queued` wheels. Wheel i has place i in the heap. That loses
 * nothing: wheels differ by their levels, and the levels are arbitrary. */
static void make_heap(uint32_t queued)
{
    uint64_t levels = 0;
    tw.queued = queued;
    for (uint32_t i = 0; i < queued; i++) {
        wheels[i]->level = any_below(ORDERS);
        ASSUME((levels >> wheels[i]->level & 1) == 0);
        levels |= UINT64_C(1) << wheels[i]->level;
        wheels[i]->queue_index = i;
        wheels[i]->queue_tick = expected[i] = any_below(ORDERS);
        tw.queue[i] = wheels[i];
        if (i > 0)
            ASSUME(!twi_is_before(tw.queue[i], tw.queue[(i - 1) / 2]));
    }
    tw.next_tick = queued == 0 ? UINT64_MAX : expected[0];
}

/* Asserts the order of the heap. Each wheel stands in the heap once, with its
 * tick, at its queue_index. tw.next_tick is the tick of the head. `before` is
 * the number of wheels before the operation. `without` is the index of the
 * wheel that has left, or a larger number if no wheel has left. */
static void check_heap(uint32_t before, uint32_t without)
{
    uint32_t queued = before - (without < before);
    ASSERT(tw.queued == queued);
    for (uint32_t i = 1; i < queued; i++)
        ASSERT(!twi_is_before(tw.queue[i], tw.queue[(i - 1) / 2]));
    for (uint32_t i = 0; i < before; i++) {
        uint32_t index = wheels[i]->queue_index;
        if (i == without)
            continue;
        ASSERT(index < queued);
        ASSERT(tw.queue[index] == wheels[i]);
        ASSERT(wheels[i]->queue_tick == expected[i]);
    }
    ASSERT(tw.next_tick ==
           (queued == 0 ? UINT64_MAX : tw.queue[0]->queue_tick));
}

/* Calls `prove` for each size of the heap and each place in the heap. */
static void for_each_place(void prove(uint32_t queued, uint32_t index))
{
    for (uint32_t queued = 1; queued <= QUEUED; queued++)
        for (uint32_t index = 0; index < queued; index++)
            prove(queued, index);
    REACHED("the end");
}

/* A wheel has an earlier timer than before. */
static void prove_earlier(uint32_t queued, uint32_t index)
{
    make_heap(queued);
    uint64_t tick = any_below(ORDERS);
    ASSUME(tick <= expected[index]);
    expected[index] = tick;
    twi_queue_earlier(&tw, wheels[index], tick);
    check_heap(queued, QUEUED);
}

/* A wheel gets its first timer. */
static void prove_enter(uint32_t queued)
{
    make_heap(queued);
    expected[queued - 1] = any_below(ORDERS);
    wheels[queued - 1]->queue_index = TWI_UNQUEUED;
    tw.queued--;
    tw.next_tick = queued == 1 ? UINT64_MAX : expected[0];
    twi_queue_earlier(&tw, wheels[queued - 1], expected[queued - 1]);
    check_heap(queued, QUEUED);
}

void earlier(void)
{
    for_each_place(prove_earlier);
    for (uint32_t queued = 1; queued <= QUEUED; queued++)
        prove_enter(queued);
}

/* A wheel waits for a later tick than before. */
static void prove_later(uint32_t queued, uint32_t index)
{
    make_heap(queued);
    uint64_t tick = any_below(ORDERS);
    ASSUME(tick >= expected[index]);
    expected[index] = tick;
    twi_queue_later(&tw, wheels[index], tick);
    check_heap(queued, QUEUED);
}

void later(void)
{
    for_each_place(prove_later);
}

/* Any wheel leaves the queue, and is no longer the wheel of the last start. */
static void prove_unqueue(uint32_t queued, uint32_t index)
{
    make_heap(queued);
    tw.last_wheel = wheels[any_below(QUEUED)];
    twi_unqueue(&tw, wheels[index]);
    ASSERT(wheels[index]->queue_index == TWI_UNQUEUED);
    ASSERT(tw.last_wheel != wheels[index]);
    ASSERT(!wheels[index]->may_have_large);
    check_heap(queued, index);
}

void unqueue(void)
{
    for_each_place(prove_unqueue);
}
