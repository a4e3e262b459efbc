/* queue.c - proofs of the delay queue of timingwheel.h: on any heap of up to
 * QUEUED entries, in any order of ticks and levels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

/* Of each of two buckets, which all wheels here have. */
static twi_chunk tail0, tail1;
static inline twi_chunk *chunk_at(unsigned n)
{
    return n == 0 ? &tail0 : &tail1;
}

#define KNOWN_CHUNKS 2
#include "known.h"

#ifndef QUEUED
#define QUEUED 5 /* at most 7                                               */
#endif

/* Ticks and levels are only ever compared here, so as many values as there are
 * entries, and the new one, can stand in every order that there is. */
#define ORDERS 8

/* The wheels, each an object of its own: CBMC tells them apart then. */
static twi_wheel w0, w1, w2, w3, w4, w5, w6;
static twi_wheel *const wheels[] = {&w0, &w1, &w2, &w3, &w4, &w5, &w6};
static twi_bucket buckets[2];      /* of all of them; the last chunk of ...  */
static uint8_t live;               /* ... the second one has so many live    */
static twi_entry expected[QUEUED]; /* what each wheel's entry must be        */

/* A heap of `queued` entries. Which wheel has which place does not matter,
 * since wheels differ by their levels, which are arbitrary. */
static void make_heap(uint32_t queued)
{
    uint64_t levels = 0;
    live = (uint8_t)any_below(2 * TWI_WATCHED);
    tail0.live = 0;
    tail1.live = live;
    buckets[0].room = &tail0.slots[any_below(TWI_SLOTS)];
    buckets[1].room = &tail1.slots[any_below(TWI_SLOTS)];
    tw.queued = queued;
    for (uint32_t i = 0; i < queued; i++) {
        wheels[i]->level = any_below(ORDERS);
        ASSUME((levels >> wheels[i]->level & 1) == 0);
        levels |= UINT64_C(1) << wheels[i]->level;
        wheels[i]->queue_index = i;
        wheels[i]->first = 0;
        wheels[i]->buckets = buckets;
        expected[i].tick = any_below(ORDERS);
        expected[i].wheel = wheels[i];
        tw.queue[i] = expected[i];
        wheels[i]->earliest = expected[i].tick;
        if (i > 0)
            ASSUME(!twi_is_before(tw.queue[i], tw.queue[(i - 1) / 2]));
    }
}

/* A heap in which each wheel stands once, as expected and where it believes it
 * is. `before` is how many there were, `without` the one that has left. */
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
        ASSERT(tw.queue[index].wheel == wheels[i]);
        ASSERT(tw.queue[index].tick == expected[i].tick);
    }
}

/* Each size of the heap with each place in it. */
static void for_each_place(void prove(uint32_t queued, uint32_t index))
{
    for (uint32_t queued = 1; queued <= QUEUED; queued++)
        for (uint32_t index = 0; index < queued; index++)
            prove(queued, index);
    REACHED("the end");
}

/* An entry that has become earlier, or is new and the last. */
static void prove_up(uint32_t queued, uint32_t index)
{
    make_heap(queued);
    twi_entry entry = {any_below(ORDERS), wheels[index]};
    ASSUME(index == queued - 1 || entry.tick <= tw.queue[index].tick);
    expected[index] = entry;
    twi_queue_up(&tw, index, entry);
    check_heap(queued, QUEUED);
}

void queue_up(void)
{
    for_each_place(prove_up);
}

/* An entry that has become later. */
static void prove_down(uint32_t queued, uint32_t index)
{
    make_heap(queued);
    twi_entry entry = {any_below(ORDERS), wheels[index]};
    ASSUME(entry.tick >= tw.queue[index].tick);
    expected[index] = entry;
    twi_queue_down(&tw, index, entry);
    check_heap(queued, QUEUED);
}

void queue_down(void)
{
    for_each_place(prove_down);
}

/* Any entry is taken out. */
static void prove_remove(uint32_t queued, uint32_t index)
{
    make_heap(queued);
    twi_queue_remove(&tw, index);
    check_heap(queued, index);
}

void queue_remove(void)
{
    for_each_place(prove_remove);
}

/* The second bucket is the earliest of that wheel, and watched. */
static void check_first(const twi_wheel *wheel, uint64_t tick)
{
    ASSERT(wheel->first == 1 && wheel->earliest == tick);
    ASSERT(tail1.live == (live | TWI_WATCHED) && tail0.live == 0);
}

/* A bucket has become the earliest of its wheel; the one that was is watched no
 * longer. */
static void prove_offer(uint32_t queued, uint32_t index)
{
    make_heap(queued);
    expected[index].tick = any_below(ORDERS);
    ASSUME(expected[index].tick <= tw.queue[index].tick);
    tail0.live = TWI_WATCHED;
    twi_offer(&tw, wheels[index], 1, expected[index].tick);
    check_heap(queued, QUEUED);
    check_first(wheels[index], expected[index].tick);
}

/* The same of a wheel that had no timers, if there is room for it here. */
static void prove_enter(uint32_t queued)
{
    make_heap(queued);
    expected[queued - 1].tick = any_below(ORDERS);
    wheels[queued - 1]->queue_index = TWI_UNQUEUED;
    wheels[queued - 1]->earliest = UINT64_MAX;
    tw.queued--;
    twi_offer(&tw, wheels[queued - 1], 1, expected[queued - 1].tick);
    check_heap(queued, QUEUED);
    check_first(wheels[queued - 1], expected[queued - 1].tick);
}

void offer(void)
{
    for_each_place(prove_offer);
    for (uint32_t queued = 1; queued <= QUEUED; queued++)
        prove_enter(queued);
}

/* The earliest bucket of a wheel has become a later one. */
static void prove_offer_later(uint32_t queued, uint32_t index)
{
    make_heap(queued);
    buckets[1].earliest = expected[index].tick = any_below(ORDERS);
    ASSUME(expected[index].tick >= tw.queue[index].tick);
    twi_offer_later(&tw, wheels[index], index, 1);
    check_heap(queued, QUEUED);
    check_first(wheels[index], expected[index].tick);
}

void offer_later(void)
{
    for_each_place(prove_offer_later);
}
