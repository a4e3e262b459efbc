/* chunks.c - proofs of the chunks of timingwheel.h: on any list of up to CHUNKS
 * chunks, wherever it is at home and whatever slots are in use.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#define CHUNKS 3
#define ASIDE TWI_DEFERRED
#define LEVEL (TWI_LEVELS + ASIDE)

/* Each an object of its own, for CBMC to tell them apart. It places objects at
 * multiples of TWI_CHUNK_BYTES and more, as the library does with chunks. */
static twi_chunk chunk0, chunk1, chunk2, spare;
static twi_chunk *const chunks[CHUNKS] = {&chunk0, &chunk1, &chunk2};
static tw_timer timers[CHUNKS][TWI_SLOTS];
static twi_bucket *const home =
    &tw.aside[ASIDE]; /* where the list is at home */

static inline twi_chunk *chunk_at(unsigned n)
{
    return n < CHUNKS ? chunks[n] : &spare;
}

#define KNOWN_CHUNKS (CHUNKS + 1)
#include "known.h"

/* Slots first .. end - 1 in use, any of them with timers, but at least one. */
static void make_slots(unsigned i)
{
    twi_chunk *chunk = chunks[i];
    unsigned first = any_below(TWI_SLOTS), end = any_below(TWI_SLOTS) + 1;
    unsigned live = 0;
    for (unsigned k = 0; k < TWI_SLOTS; k++) {
        bool is_live = k >= first && k < end && nondet_bool();
        chunk->slots[k] = is_live ? &timers[i][k] : NULL;
        live += is_live;
    }
    ASSUME(live != 0);
    chunk->first = (uint8_t)first;
    chunk->end = (uint8_t)end;
    chunk->live = (uint8_t)live;
}

/* Chunks `from` .. from + count - 1, in order, are the list of `bucket`. */
static void link_list(twi_bucket *bucket, unsigned from, unsigned count)
{
    bucket->head = count == 0 ? NULL : chunks[from];
    twi_set_tail(bucket, count == 0 ? NULL : chunks[from + count - 1]);
    bucket->earliest = nondet_u64();
    bucket->latest = nondet_u64();
    ASSUME(bucket->earliest <= bucket->latest);
    for (unsigned i = from; i < from + count; i++) {
        chunks[i]->next = i + 1 < from + count ? chunks[i + 1] : NULL;
        chunks[i]->prev = i > from ? chunks[i - 1] : NULL;
    }
}

/* A bucket of `count` chunks. */
static void make_bucket(unsigned count)
{
    static const timingwheel none = {0};
    tw = none;
    link_list(home, 0, count);
    for (unsigned i = 0; i < count; i++) {
        make_slots(i);
        chunks[i]->ordinal = 1;
        chunks[i]->level = LEVEL;
        chunks[i]->bucket = 0;
    }
}

/* The list of `bucket` is `one`, `two`, `three`, without those NULL. */
static void check_list(const twi_bucket *bucket, twi_chunk *one, twi_chunk *two,
                       twi_chunk *three)
{
    twi_chunk *list[CHUNKS] = {one, two, three};
    twi_chunk *last = NULL;
    for (unsigned i = 0; i < CHUNKS; i++) {
        if (list[i] == NULL)
            continue;
        ASSERT(list[i]->prev == last);
        ASSERT((last == NULL ? bucket->head : last->next) == list[i]);
        last = list[i];
    }
    ASSERT(bucket->room == (last == NULL ? NULL : last->slots + TWI_SLOTS));
    ASSERT((last == NULL ? bucket->head : last->next) == NULL);
}

static twi_chunk *chunk_if(bool is_there, unsigned index)
{
    return is_there ? chunks[index] : NULL;
}

/* The list once chunk `left` of `count` has left it. */
static void check_left(unsigned count, unsigned left)
{
    check_list(home, chunk_if(left != 0, 0),
               chunk_if(left != 1 && count > 1, 1),
               chunk_if(left != 2 && count > 2, 2));
    ASSERT(tw.unused == chunks[left]);
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

/* What is read off the room of a bucket: any slot of any chunk, or its end. */
void room(void)
{
    twi_bucket bucket = {0, 0, chunks[any_below(CHUNKS)], NULL};
    ASSERT(!twi_has_room(&bucket));
    unsigned k = any_below(TWI_SLOTS + 1);
    twi_chunk *tail = chunks[any_below(CHUNKS)];
    bucket.room = tail->slots + k;
    ASSERT(twi_tail(&bucket) == tail);
    ASSERT(twi_has_one_chunk(&bucket) == (bucket.head == tail));
    ASSERT(twi_has_room(&bucket) == (k != TWI_SLOTS));
    ASSERT(twi_free_slots(&bucket) == TWI_SLOTS - k);
    REACHED("the end");
}

/* A chunk that is not used is taken before memory is asked for. */
void take_chunk(void)
{
    bool in_front = nondet_bool();
    spare.next = nondet_bool() ? &chunk0 : NULL;
    tw.unused = &spare;
    const twi_chunk *rest = spare.next;
    unsigned start = in_front ? TWI_SLOTS : 0;
    twi_chunk *chunk = twi_take_chunk(&tw, LEVEL, 0, in_front);
    ASSERT(chunk == &spare && tw.unused == rest);
    ASSERT(memory_got == 0);
    ASSERT(chunk->next == NULL && chunk->prev == NULL);
    ASSERT(chunk->level == LEVEL && chunk->bucket == 0 && chunk->live == 0);
    ASSERT(chunk->first == start && chunk->end == start);
    REACHED("the end");
}

static void check_added(unsigned start)
{
    ASSERT(spare.live == 0 && spare.first == start && spare.end == start);
    ASSERT(spare.level == LEVEL && spare.bucket == 0);
}

/* A chunk goes behind a list, or in front of it, if there is one. */
static void prove_add(unsigned count)
{
    make_bucket(count);
    bool added = nondet_bool(), last = nondet_bool();
    tw.unused = added ? &spare : NULL;
    memory_got = 1; /* there is no more memory */
    ASSERT((last ? twi_add_last(&tw, home, LEVEL, 0)
                 : twi_add_first(&tw, home, LEVEL, 0)) == added);
    if (!added)
        check_list(home, chunk_if(count > 0, 0), chunk_if(count > 1, 1), NULL);
    else if (last)
        check_list(home, chunk_if(count > 0, 0), chunk_if(count > 1, 1),
                   &spare);
    else
        check_list(home, &spare, chunk_if(count > 0, 0),
                   chunk_if(count > 1, 1));
    if (added)
        check_added(last ? 0 : TWI_SLOTS);
}

void add_chunk(void)
{
    for (unsigned count = 0; count < CHUNKS; count++)
        prove_add(count);
    REACHED("the end");
}

/* The same in a wheel, where the bucket is full: then it is open. If it is the
 * first it is watched before, maybe, and after. */
static void prove_add_open(unsigned count)
{
    static twi_wheel wheel;
    static twi_chunk own; /* is elsewhere */
    make_bucket(count);
    twi_chunk *full = chunks[count - 1];
    full->end = TWI_SLOTS;
    const twi_chunk before = *full;
    wheel.buckets = home;
    wheel.own = &own;
    wheel.queue_index = nondet_bool() ? 0 : TWI_UNQUEUED;
    wheel.first = any_below(2);
    bool is_first = twi_is_queued(&wheel) && wheel.first == 0;
    own.live = 1;
    full->live |= is_first && nondet_bool() ? TWI_WATCHED : 0;
    tw.wheels[0] = &wheel;
    tw.unused = &spare;
    ASSERT(twi_add_open(&tw, &wheel, 0));
    ASSERT(home->room == spare.slots);
    twi_set_tail(home, &spare);
    check_list(home, chunk_if(count > 0, 0), chunk_if(count > 1, 1), &spare);
    ASSERT(spare.first == 0 && spare.end == TWI_SLOTS && spare.level == 0);
    ASSERT(spare.live == TWI_SLOTS + (is_first ? TWI_WATCHED : 0));
    ASSERT(full->live == before.live && full->end == before.end);
}

void add_open(void)
{
    for (unsigned count = 1; count < CHUNKS; count++)
        prove_add_open(count);
    REACHED("the end");
}

/* A bucket without timers is opened: slot `start` is next, and those from there
 * on are counted. */
void open_bucket(void)
{
    unsigned start = any_below(TWI_SLOTS);
    make_bucket(1);
    twi_open(home, chunks[0], start);
    ASSERT(home->room == &chunk0.slots[start] && home->head == &chunk0);
    ASSERT(chunk0.first == start && chunk0.end == TWI_SLOTS);
    ASSERT(chunk0.live == TWI_SLOTS - start);
    REACHED("the end");
}

/* The last chunk of a list is open, with or without a timer in it, watched or
 * not: closed, it has what it had, or it is dropped. */
static void prove_close(unsigned count)
{
    make_bucket(count);
    unsigned k = any_below(TWI_SLOTS);
    twi_chunk *tail = chunks[count - 1];
    if (count > 1 && nondet_bool())
        tail->live = 0;
    const twi_chunk before = *tail;
    unsigned free_slots = TWI_SLOTS - before.end;
    home->room = tail->slots + before.end;
    tail->end = TWI_SLOTS;
    tail->live = (uint8_t)(before.live + free_slots);
    tail->live |= nondet_bool() ? TWI_WATCHED : 0;
    twi_close(&tw, home);
    if (before.live == 0) {
        check_left(count, count - 1);
        ASSERT(tail->live == 0);
        return;
    }
    check_list(home, chunks[0], chunk_if(count > 1, 1), chunk_if(count > 2, 2));
    ASSERT(tail->live == before.live && tw.unused == NULL);
    ASSERT(tail->first == before.first && tail->end == before.end);
    ASSERT(tail->slots[k] == before.slots[k]);
}

void close_bucket(void)
{
    for (unsigned count = 1; count <= CHUNKS; count++)
        prove_close(count);
    REACHED("the end");
}

/* Behind the timers of any bucket with room there, and in front of those of any
 * with room there: the slot is free, next to the others, and counted. */
static void prove_slots(unsigned count)
{
    make_bucket(count);
    bool behind = nondet_bool();
    twi_chunk *chunk = behind ? chunks[count - 1] : chunks[0];
    const twi_chunk before = *chunk;
    ASSUME(behind ? !twi_lacks_room_behind(home)
                  : !twi_lacks_room_in_front(home));
    tw_timer **slot = behind ? twi_slot_behind(home) : twi_slot_in_front(home);
    unsigned k = any_below(TWI_SLOTS);
    ASSERT(chunk->live == before.live + 1);
    ASSERT(chunk->end == before.end + behind);
    ASSERT(chunk->first == before.first - !behind);
    ASSERT(slot == &chunk->slots[behind ? before.end : chunk->first]);
    ASSERT(*slot == NULL);
    ASSERT(chunk->slots[k] == before.slots[k]);
}

void slots(void)
{
    for (unsigned count = 1; count <= 2; count++)
        prove_slots(count);
    REACHED("the end");
}

/* Any chunk of any list is taken out of it; tw->walk goes on to the next. */
static void prove_release(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        make_bucket(count);
        twi_chunk *walk = nondet_bool() ? chunks[i] : chunks[0];
        tw.walk = nondet_bool() ? walk : NULL;
        const twi_chunk *next = tw.walk == chunks[i] ? walk->next : tw.walk;
        twi_release_chunk(&tw, chunks[i]);
        check_left(count, i);
        ASSERT(tw.walk == next);
    }
}

void release_chunk(void)
{
    for (unsigned count = 1; count <= CHUNKS; count++)
        prove_release(count);
    REACHED("the end");
}

/* A list is put behind another, which may be empty, as may be the first. */
static void prove_append(unsigned to_count, unsigned from_count)
{
    const unsigned to = TWI_OWED;
    twi_bucket from;
    link_list(&tw.aside[to], 0, to_count);
    link_list(&from, to_count, from_count);
    const twi_bucket before = tw.aside[to], given = from;
    bool unsorted = nondet_bool();
    tw.unsorted[to] = unsorted;
    twi_append(&tw, TWI_OWED, &from);
    const twi_bucket *all = &tw.aside[to];
    unsigned count = to_count + from_count;
    check_list(all, chunk_if(count > 0, 0), chunk_if(count > 1, 1),
               chunk_if(count > 2, 2));
    ASSERT(from.head == NULL);
    for (unsigned i = to_count; i < count; i++)
        ASSERT(chunks[i]->level == TWI_LEVELS + to);
    bool both = to_count != 0 && from_count != 0;
    const twi_bucket *least = from_count == 0 ? &before : &given;
    const twi_bucket *most = least;
    if (both && before.earliest < given.earliest)
        least = &before;
    if (both && before.latest > given.latest)
        most = &before;
    ASSERT(all->earliest == least->earliest && all->latest == most->latest);
    ASSERT(!both || given.earliest >= before.latest || tw.unsorted[to]);
    ASSERT(!unsorted || tw.unsorted[to]);
}

void append(void)
{
    for (unsigned count = 0; count < CHUNKS; count++)
        for (unsigned from = 0; from < CHUNKS - count; from++)
            prove_append(count, from);
    prove_append(2, 1);
    prove_append(1, 2);
    REACHED("the end");
}

/* Of a chunk that is to be fetched only slots are read, and nothing changes. */
void prefetch(void)
{
    unsigned k = any_below(TWI_SLOTS);
    make_slots(0);
    const twi_chunk before = chunk0;
    twi_prefetch(nondet_bool() ? &chunk0 : NULL);
    ASSERT(chunk0.slots[k] == before.slots[k] && chunk0.live == before.live);
    ASSERT(chunk0.first == before.first && chunk0.end == before.end);
    REACHED("the end");
}

/* The same for the first chunk of a bucket that is open, of one chunk or more,
 * where the first slot in use is before the room. */
void prefetch_few(void)
{
    bool is_alone = nondet_bool();
    unsigned k = any_below(TWI_SLOTS), next = any_below(TWI_SLOTS) + 1;
    make_bucket(2);
    ASSUME(!is_alone || chunk0.first < next);
    home->room = (is_alone ? &chunk0 : &chunk1)->slots + next;
    const twi_chunk before = chunk0;
    const twi_bucket bucket = *home;
    twi_prefetch_few(home);
    ASSERT(chunk0.slots[k] == before.slots[k] && chunk0.live == before.live);
    ASSERT(chunk0.first == before.first && chunk0.end == before.end);
    ASSERT(home->head == bucket.head && home->room == bucket.room);
    REACHED("the end");
}
