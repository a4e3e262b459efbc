/* chunks.c - proofs of the chunks and buckets of timingwheel.h: on any bucket of
 * up to CHUNKS chunks, wherever its slots begin and end, whatever timers have
 * been cancelled.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#ifndef CHUNKS
#define CHUNKS 3 /* at most 3                                               */
#endif
#define LEVEL (TWI_LEVELS + TWI_OWED)

/* Each an object of its own, for CBMC to tell them apart. It places objects at
 * multiples of TWI_CHUNK_BYTES and more, as the library does with chunks. */
static twi_chunk chunk0, chunk1, chunk2, spare;
static twi_chunk *const chunks[] = {&chunk0, &chunk1, &chunk2};
static tw_timer timers[CHUNKS][TWI_SLOTS];
static twi_bucket *const home = &tw.aside[TWI_OWED];

static inline twi_chunk *chunk_at(unsigned n)
{
    return n < CHUNKS ? chunks[n] : &spare;
}

#define KNOWN_CHUNKS (CHUNKS + 1)
#include "known.h"

static unsigned first; /* slot in use of the first chunk                     */
static unsigned end;   /* slots of the last chunk up to the room             */

/* Chunk i of `count`: which of its slots are in use, with timers or dead. */
static void make_slots(unsigned i, unsigned count)
{
    twi_chunk *chunk = chunks[i];
    unsigned dead = 0, from = i == 0 ? first : 0;
    unsigned to = i + 1 == count ? end : (unsigned)TWI_SLOTS;
    for (unsigned k = 0; k < TWI_SLOTS; k++) {
        bool is_used = k >= from && k < to;
        bool is_live = is_used && nondet_bool();
        chunk->slots[k] = is_live ? &timers[i][k] : NULL;
        timers[i][k].place = is_live ? (uintptr_t)&chunk->slots[k] : TW_FIRED;
        dead += is_used && !is_live;
    }
    ASSUME(dead < TWI_SLOTS);
    chunk->dead = (uint8_t)dead;
    chunk->level = LEVEL;
    chunk->index = 0;
    chunk->prev = i == 0 ? NULL : chunks[i - 1];
    chunk->next = i + 1 == count ? NULL : chunks[i + 1];
}

/* A bucket of `count` chunks, which is not empty. */
static void make_bucket(unsigned count)
{
    static const timingwheel none = {0};
    tw = none;
    first = any_below(TWI_SLOTS);
    end = 1 + any_below(TWI_SLOTS);
    ASSUME(count > 1 || first < end);
    for (unsigned i = 0; i < count; i++)
        make_slots(i, count);
    home->front = &chunks[0]->slots[first];
    home->room = chunks[count - 1]->slots + end;
    home->earliest = home->latest = 7;
    tw.unused = &spare;
    spare.next = NULL;
}

/* Chunk i, from slot `from` on and up to `to`, counts its dead slots. */
static void check_slots(const twi_chunk *chunk, unsigned from, unsigned to)
{
    unsigned dead = 0;
    for (unsigned k = from; k < to; k++)
        dead += chunk->slots[k] == NULL;
    ASSERT(chunk->dead == dead);
}

/* The chunks of the bucket are `list`, without those NULL, in order. */
static void check_list(twi_chunk *one, twi_chunk *two, twi_chunk *three)
{
    twi_chunk *list[3] = {one, two, three}, *last = NULL;
    for (unsigned i = 0; i < 3; i++) {
        if (list[i] == NULL)
            continue;
        ASSERT(list[i]->prev == last);
        ASSERT(last == NULL || last->next == list[i]);
        last = list[i];
    }
    ASSERT(last != NULL && last->next == NULL);
}

/* Memory that starts anywhere, of up to 1,024 bytes: what comes of it starts at
 * a multiple of TWI_CHUNK_BYTES, is inside, and is accounted for. */
void allocate(void)
{
    size_t bytes = any_below(1025);
    void *block;
    memory_offset = any_below(256);
    tw.bytes_held = any_below(1U << 31);
    size_t held = tw.bytes_held;
    unsigned char *start = (unsigned char *)twi_allocate(&tw, bytes, &block);
    if (start == NULL) {
        ASSERT(tw.bytes_held == held && memory_got == 0);
        REACHED("no memory");
        return;
    }
    ASSERT((uintptr_t)start % TWI_CHUNK_BYTES == 0);
    ASSERT(start >= memory + memory_offset);
    ASSERT(start + bytes <= memory + memory_offset + memory_got);
    ASSERT(tw.bytes_held - held == memory_got);
    twi_deallocate(&tw, bytes, block);
    ASSERT(tw.bytes_held == held && memory_got == 0);
    REACHED("the end");
}

/* The chunk of any slot. */
void chunk_of(void)
{
    unsigned k = any_below(TWI_SLOTS);
    twi_chunk *chunk = chunks[any_below(CHUNKS)];
    ASSERT(twi_chunk_of(&chunk->slots[k]) == chunk);
    REACHED("the end");
}

void take_chunk(void)
{
    spare.next = nondet_bool() ? &chunk0 : NULL;
    tw.unused = &spare;
    const twi_chunk *rest = spare.next;
    twi_chunk *chunk = twi_take_chunk(&tw, LEVEL, 9);
    ASSERT(chunk == &spare && tw.unused == rest);
    ASSERT(memory_got == 0);
    ASSERT(chunk->next == NULL && chunk->prev == NULL);
    ASSERT(chunk->level == LEVEL && chunk->index == 9 && chunk->dead == 0);
    REACHED("the end");
}

/* A slot behind all others: free, and the next one to the last. */
void push_back(void)
{
    make_bucket(2);
    tw_timer **room = home->room;
    tw_timer **slot = twi_push_back(&tw, home, LEVEL, 0);
    if (end == TWI_SLOTS) {
        ASSERT(slot == spare.slots && tw.unused == NULL);
        check_list(&chunk0, &chunk1, &spare);
        REACHED("a new chunk");
    } else {
        ASSERT(slot == room && tw.unused == &spare);
        check_list(&chunk0, &chunk1, NULL);
    }
    ASSERT(home->room == slot + 1);
    ASSERT(home->front == &chunk0.slots[first]);
    check_slots(&chunk0, first, TWI_SLOTS);
    REACHED("the end");
}

/* The same in front. */
void push_front(void)
{
    make_bucket(2);
    tw_timer **front = home->front, **room = home->room;
    tw_timer **slot = twi_push_front(&tw, home, LEVEL, 0);
    if (first == 0) {
        ASSERT(slot == &spare.slots[TWI_SLOTS - 1] && tw.unused == NULL);
        check_list(&spare, &chunk0, &chunk1);
        REACHED("a new chunk");
    } else {
        ASSERT(slot == front - 1 && tw.unused == &spare);
        check_list(&chunk0, &chunk1, NULL);
    }
    ASSERT(home->front == slot && home->room == room);
    REACHED("the end");
}

/* The front slot leaves, and with the last one of it the chunk. */
void pop_front(void)
{
    make_bucket(2);
    if (chunk0.slots[first] == NULL)
        chunk0.dead--;
    ASSERT(twi_pop_front(&tw, home));
    if (first == TWI_SLOTS - 1) {
        ASSERT(home->front == chunk1.slots && tw.unused == &chunk0);
        check_list(&chunk1, NULL, NULL);
        REACHED("a chunk less");
    } else {
        ASSERT(home->front == &chunk0.slots[first + 1]);
        check_slots(&chunk0, first + 1, TWI_SLOTS);
        check_list(&chunk0, &chunk1, NULL);
    }
    REACHED("the end");
}

/* The last slot leaves, live or dead, and with the first one of it the chunk. */
void pop_back(void)
{
    make_bucket(2);
    ASSERT(twi_pop_back(&tw, home));
    if (end == 1) {
        ASSERT(home->room == chunk0.slots + TWI_SLOTS);
        ASSERT(tw.unused == &chunk1);
        check_list(&chunk0, NULL, NULL);
        REACHED("a chunk less");
    } else {
        ASSERT(home->room == &chunk1.slots[end - 1]);
        check_slots(&chunk1, 0, end - 1);
        check_list(&chunk0, &chunk1, NULL);
    }
    check_slots(&chunk0, first, TWI_SLOTS);
    REACHED("the end");
}

/* A timer anywhere in three chunks leaves: its slot is dead, or, if it was the
 * last one of a full chunk, that leaves. No other slot changes. */
void clear(void)
{
    make_bucket(CHUNKS);
    unsigned i = any_below(CHUNKS), k = any_below(TWI_SLOTS);
    unsigned j = any_below(CHUNKS), other = any_below(TWI_SLOTS);
    ASSUME(chunks[i]->slots[k] != NULL);
    ASSUME(i != j || k != other);
    const tw_timer *kept = chunks[j]->slots[other];
    bool leaves = chunks[i]->dead == TWI_SLOTS - 1;
    twi_clear(&tw, &chunks[i]->slots[k]);
    ASSERT(chunks[j]->slots[other] == kept);
    ASSERT(chunks[i]->slots[k] == NULL);
    check_list(leaves && i == 0 ? NULL : &chunk0,
               leaves && i == 1 ? NULL : &chunk1,
               leaves && i == 2 ? NULL : &chunk2);
    if (leaves) {
        ASSERT(tw.unused == chunks[i]);
        ASSERT(home->front ==
               (i == 0 ? chunk1.slots : &chunk0.slots[first]));
        ASSERT(home->room ==
               (i == 2 ? chunk1.slots + TWI_SLOTS : &chunk2.slots[0] + end));
        REACHED("a chunk leaves");
    }
    REACHED("the end");
}

/* A chunk that is fetched ahead is only read. */
void prefetch(void)
{
    unsigned k = any_below(TWI_SLOTS);
    make_bucket(2);
    const twi_chunk before = chunk0;
    twi_prefetch(nondet_bool() ? &chunk0 : NULL);
    ASSERT(chunk0.slots[k] == before.slots[k] && chunk0.dead == before.dead);
    REACHED("the end");
}
