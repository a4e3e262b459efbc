/* chunks.c - proofs of the chunks and buckets of timingwheel.h: on any bucket
 * of up to CHUNKS chunks, wherever its slots begin and end, whatever timers
 * have been cancelled.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#ifndef CHUNKS
#define CHUNKS 3 /* at most 3                                               */
#endif
#define EARLIEST 7 /* the span of the bucket                                */
#define LATEST 9

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
    chunk->bucket = home;
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
    home->earliest = EARLIEST;
    home->latest = LATEST;
    tw.unused = &spare;
    spare.next = NULL;
}

/* An empty bucket: without a chunk, or with one that had timers. */
static void make_empty(void)
{
    static const timingwheel none = {0};
    tw = none;
    make_slots(0, 1);
    ASSUME(chunk0.dead == 0);
    if (nondet_bool())
        home->front = home->room = &chunk0.slots[any_below(TWI_SLOTS)];
    home->earliest = EARLIEST;
    home->latest = LATEST;
    tw.unused = &spare;
    spare.next = NULL;
}

/* A bucket keeps its span until its mark goes. */
static void check_span(void)
{
    ASSERT(home->earliest == EARLIEST && home->latest == LATEST);
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

/* The bucket is empty and keeps its only chunk, with room. */
static void check_empty(void)
{
    ASSERT(twi_is_empty(home) && !twi_is_chunk_end(home->room));
    ASSERT(twi_last_chunk(home) == &chunk0 && chunk0.dead == 0);
    ASSERT(tw.unused == &spare);
    check_list(&chunk0, NULL, NULL);
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

/* The chunk of any slot, and of the place in front of the first one. */
void chunk_of(void)
{
    unsigned k = any_below(TWI_SLOTS + 1);
    twi_chunk *chunk = chunks[any_below(CHUNKS)];
    ASSERT(twi_chunk_of(chunk->slots + k - 1) == chunk);
    REACHED("the end");
}

void take_chunk(void)
{
    spare.next = nondet_bool() ? &chunk0 : NULL;
    tw.unused = &spare;
    const twi_chunk *rest = spare.next;
    twi_chunk *chunk = twi_take_chunk(&tw, home);
    ASSERT(chunk == &spare && tw.unused == rest);
    ASSERT(memory_got == 0);
    ASSERT(chunk->next == NULL && chunk->prev == NULL);
    ASSERT(chunk->bucket == home && chunk->dead == 0);
    REACHED("the end");
}

/* A slot behind all others: free, and the next one to the last. */
void push_back(void)
{
    make_bucket(2);
    tw_timer **room = home->room;
    tw_timer **slot = twi_push_back(&tw, home);
    if (end == TWI_SLOTS) {
        ASSERT(slot == spare.slots && tw.unused == NULL);
        ASSERT(spare.bucket == home && spare.dead == 0);
        check_list(&chunk0, &chunk1, &spare);
        REACHED("a new chunk");
    } else {
        ASSERT(slot == room && tw.unused == &spare);
        check_list(&chunk0, &chunk1, NULL);
    }
    ASSERT(home->room == slot + 1);
    ASSERT(home->front == &chunk0.slots[first]);
    check_slots(&chunk0, first, TWI_SLOTS);
    check_span();
    REACHED("the end");
}

/* The same in front. */
void push_front(void)
{
    make_bucket(2);
    tw_timer **front = home->front, **room = home->room;
    tw_timer **slot = twi_push_front(&tw, home);
    if (first == 0) {
        ASSERT(slot == &spare.slots[TWI_SLOTS - 1] && tw.unused == NULL);
        ASSERT(spare.bucket == home && spare.dead == 0);
        check_list(&spare, &chunk0, &chunk1);
        REACHED("a new chunk");
    } else {
        ASSERT(slot == front - 1 && tw.unused == &spare);
        check_list(&chunk0, &chunk1, NULL);
    }
    ASSERT(home->front == slot && home->room == room);
    check_span();
    REACHED("the end");
}

/* The first slot of an empty bucket, from either end: the only one, in the
 * chunk that the bucket has, or in a new one. */
void push_empty(void)
{
    make_empty();
    bool has_chunk = home->room != NULL;
    tw_timer **slot =
        nondet_bool() ? twi_push_back(&tw, home) : twi_push_front(&tw, home);
    twi_chunk *chunk = has_chunk ? &chunk0 : &spare;
    ASSERT(tw.unused == (has_chunk ? &spare : NULL));
    ASSERT(home->front == slot && home->room == slot + 1);
    ASSERT(slot >= chunk->slots && slot < chunk->slots + TWI_SLOTS);
    ASSERT(chunk->bucket == home && chunk->dead == 0);
    check_list(chunk, NULL, NULL);
    check_span();
    if (has_chunk)
        REACHED("a chunk of its own");
    else
        REACHED("a new chunk");
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
    check_span();
    REACHED("the end");
}

/* The last slot leaves, live or dead, and with the first one of its chunk that
 * does. */
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
    check_span();
    REACHED("the end");
}

/* A slot leaves a bucket of one chunk, in front or at the back, live or dead:
 * with the last one the bucket is empty. */
void pop_one(void)
{
    make_bucket(1);
    bool at_front = nondet_bool(), left;
    if (at_front && chunk0.slots[first] == NULL)
        chunk0.dead--;
    if (at_front)
        left = twi_pop_front(&tw, home);
    else
        left = twi_pop_back(&tw, home);
    ASSERT(left == (end - first > 1));
    if (left) {
        unsigned from = first + at_front, to = end - !at_front;
        ASSERT(home->front == &chunk0.slots[from]);
        ASSERT(home->room == chunk0.slots + to);
        check_slots(&chunk0, from, to);
        check_list(&chunk0, NULL, NULL);
        REACHED("others are left");
    } else {
        check_empty();
        REACHED("none is left");
    }
    check_span();
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
    check_span();
    if (leaves) {
        ASSERT(tw.unused == chunks[i]);
        ASSERT(home->front == (i == 0 ? chunk1.slots : &chunk0.slots[first]));
        ASSERT(home->room ==
               (i == 2 ? chunk1.slots + TWI_SLOTS : &chunk2.slots[0] + end));
        REACHED("a chunk leaves");
    }
    REACHED("the end");
}

/* The same in a bucket of one chunk: if that was full, and all others were
 * dead, the bucket is empty. */
void clear_one(void)
{
    make_bucket(1);
    unsigned k = any_below(TWI_SLOTS);
    ASSUME(chunk0.slots[k] != NULL);
    bool empties = chunk0.dead == TWI_SLOTS - 1;
    twi_clear(&tw, &chunk0.slots[k]);
    ASSERT(chunk0.slots[k] == NULL);
    check_span();
    if (empties) {
        check_empty();
        REACHED("none is left");
    } else {
        ASSERT(home->front == &chunk0.slots[first]);
        ASSERT(home->room == chunk0.slots + end);
        check_slots(&chunk0, first, end);
        check_list(&chunk0, NULL, NULL);
        REACHED("others are left");
    }
}

/* A timer anywhere in `count` chunks is taken back, if nothing stands behind
 * it and a chunk is left that is not empty or the only one: the next slot is
 * its own again, and none is dead for it. Else nothing changes. */
static void prove_take_back(unsigned count)
{
    make_bucket(count);
    unsigned i = any_below(count), k = any_below(TWI_SLOTS);
    tw_timer **slot = &chunks[i]->slots[k], **room = home->room;
    ASSUME(*slot != NULL);
    bool is_last = i + 1 == count && k + 1 == end;
    bool is_taken = twi_take_back(slot);
    ASSERT(is_taken == (is_last && (k > 0 || count == 1)));
    ASSERT(home->room == (is_taken ? slot : room));
    ASSERT(home->front == &chunk0.slots[first]);
    for (unsigned j = 0; j < count; j++)
        check_slots(chunks[j], j == 0 ? first : 0,
                    j + 1 < count ? (unsigned)TWI_SLOTS : end - is_taken);
    check_list(&chunk0, count > 1 ? &chunk1 : NULL, NULL);
    check_span();
    if (is_taken) {
        ASSERT(twi_push_back(&tw, home) == slot);
        REACHED("it is");
    } else {
        REACHED("it is not");
    }
}

void take_back(void)
{
    prove_take_back(1);
    prove_take_back(2);
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
