/* chunks.c - proofs of the chunks and buckets of timingwheel.h; see buckets.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "buckets.h"

#define EARLIEST 7 /* the span of the bucket */
#define LATEST 9

static twi_bucket *home = &tw.outside[TWI_STUCK];
static unsigned first; /* slot in use of the first chunk */
static unsigned end;   /* slots of the last chunk up to the room */

/* Makes a bucket of `count` chunks that is not empty. */
static void make_bucket(unsigned count)
{
    make_none();
    first = any_below(TWI_SLOTS);
    end = 1 + any_below(TWI_SLOTS);
    ASSUME(count > 1 || first < end);
    make_chain(home, 0, count, first, end);
    forget_others(count);
    home->earliest = EARLIEST;
    home->latest = LATEST;
}

/* Makes an empty bucket: without a chunk, or with one chunk that had timers. */
static void make_empty(void)
{
    make_none();
    first = any_below(TWI_SLOTS);
    if (nondet_bool())
        make_chain(home, 0, 1, first, first);
    forget_others((unsigned)tw.buckets_used);
    home->earliest = EARLIEST;
    home->latest = LATEST;
}

/* Takes the unused chunk away, or leaves it. */
static void make_scarce(void)
{
    if (nondet_bool()) {
        tw.unused = NULL;
        tw.chunks--;
    }
}

/* Asserts what must hold after each proof: the bucket is in order, the chunks
 * are counted, and the bucket keeps its span. */
static void check(tw_timer *const *left)
{
    unsigned count = check_bucket(home);
    check_counts(count, count != 0);
    check_kept(home, left);
    ASSERT(home->earliest == EARLIEST && home->latest == LATEST);
}

/* Any start of memory, up to 1,024 bytes. The result starts at a multiple of
 * TWI_CHUNK_BYTES, is inside the memory, and is counted in bytes_held. */
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

/* Finds the chunk of any slot, and of the place in front of the first slot. */
void chunk_of(void)
{
    unsigned k = any_below(TWI_SLOTS + 1);
    twi_chunk *chunk = chunks[any_below(CHUNKS)];
    ASSERT(twi_chunk_of(chunk->slots + k - 1) == chunk);
    REACHED("the end");
}

/* Finds the slot of any timer, with and without the bit of a sorted bucket. */
void slot_of(void)
{
    tw_timer timer = {0, NULL, 0};
    tw_timer **slot = &chunks[any_below(CHUNKS)]->slots[any_below(TWI_SLOTS)];
    if (nondet_bool())
        twi_fill(slot, &timer);
    else
        twi_fill_sorted(slot, &timer);
    ASSERT(*slot == &timer && twi_is_pending(&timer));
    ASSERT(twi_slot_of(&timer) == slot);
    REACHED("the end");
}

void take_chunk(void)
{
    make_none();
    spare.next = nondet_bool() ? &chunk0 : NULL;
    const twi_chunk *rest = spare.next;
    twi_chunk *chunk = twi_take_chunk(&tw, home);
    ASSERT(chunk == &spare && tw.unused == rest);
    ASSERT(chunk->next == NULL && chunk->prev == NULL);
    ASSERT(chunk->bucket == home && tw.in_use == 1);
    REACHED("the end");
}

/* Any number of chunks is provided, or memory has run out. No timer is lost in
 * either case. */
void provide(void)
{
    make_bucket(2);
    make_scarce();
    tw.count = nondet_u32();
    tw.reserved = nondet_u32();
    unsigned wanted = 1 + any_below(2);
    bool is_provided = twi_provide(&tw, wanted);
    check(NULL);
    ASSERT(is_provided == (tw.chunks - tw.in_use >= wanted));
    if (is_provided)
        REACHED("provided");
    else
        REACHED("no memory");
}

/* A slot behind all slots: the slot is free, and follows the last slot. Chunks
 * without a timer may leave the bucket in the same call. */
static void prove_push_back(void)
{
    tw_timer **room = home->back;
    bool has_room = !twi_is_chunk_end(room);
    tw_timer **slot = twi_push_back(&tw, home);
    check(NULL);
    if (slot == NULL) {
        ASSERT(!has_room && tw.unused == NULL);
        REACHED("no memory");
        return;
    }
    ASSERT(home->back == slot + 1 && is_in(home, slot));
    if (has_room) {
        ASSERT(slot == room);
    } else {
        ASSERT(slot == twi_chunk_of(slot)->slots);
        REACHED("a new chunk");
    }
    REACHED("the end");
}

/* A slot in front of all slots, likewise. */
static void prove_push_front(void)
{
    tw_timer **front = home->front;
    bool has_room =
        front != NULL && (front != chunk0.slots || front == home->back);
    tw_timer **slot = twi_push_front(&tw, home);
    check(NULL);
    if (slot == NULL) {
        ASSERT(!has_room && tw.unused == NULL);
        REACHED("no memory");
        return;
    }
    ASSERT(home->front == slot && is_in(home, slot));
    if (!has_room)
        REACHED("a new chunk");
    REACHED("the end");
}

void push_back(void)
{
    make_bucket(2);
    make_scarce();
    prove_push_back();
}

void push_front(void)
{
    make_bucket(2);
    make_scarce();
    prove_push_front();
}

/* The first slot of an empty bucket, from either end. The bucket then has one
 * slot in use, in the bucket's chunk or in a new chunk. */
void push_empty(void)
{
    make_empty();
    make_scarce();
    if (nondet_bool())
        prove_push_back();
    else
        prove_push_front();
    ASSERT(home->back == NULL || home->back - home->front <= 1);
}

/* The front slot leaves. If the slot is the last slot of its chunk, the chunk
 * leaves, too. The last slot of a bucket leaves the chunk in the bucket, and no
 * position comes twice. */
void pop_front(void)
{
    unsigned count = any_below(2) + 1;
    make_bucket(count);
    tw_timer **front = home->front;
    size_t position = twi_position(front);
    bool is_last = front + 1 == home->back;
    ASSERT(twi_pop_front(&tw, home) == !is_last);
    check(front);
    ASSERT(twi_is_empty(home) == is_last);
    if (is_last) {
        ASSERT(!twi_is_before_position(home->back, position + 1));
        ASSERT(!twi_is_chunk_end(home->back));
        REACHED("none is left");
    } else {
        ASSERT(twi_next_slot(front) == home->front || first + 1 == TWI_SLOTS);
        ASSERT(count == 1 || chunk0.bucket != NULL ||
               home->front == chunk1.slots);
        REACHED("others are left");
    }
}

/* The last slot leaves, live or dead. If the slot is the first slot of a later
 * chunk, the chunk leaves, too. */
void pop_back(void)
{
    unsigned count = any_below(2) + 1;
    make_bucket(count);
    tw_timer **last = home->back - 1;
    bool is_first = last == home->front;
    ASSERT(twi_pop_back(&tw, home) == !is_first);
    check(last);
    ASSERT(twi_is_empty(home) == is_first);
    if (count == 2 && end == 1) {
        ASSERT(home->back == chunk0.slots + TWI_SLOTS);
        REACHED("a chunk less");
    } else {
        ASSERT(home->back == last);
        REACHED("the end");
    }
}

/* Dead slots leave the front of a bucket of 3 chunks. Skipping ends at a timer,
 * at the end of the bucket, or after TWI_SKIP slots. */
void skip_dead(void)
{
    make_bucket(CHUNKS);
    bool has_timers = false;
    for (unsigned i = 0; i < CHUNKS; i++)
        for (unsigned k = 0; k < TWI_SLOTS; k++)
            has_timers = has_timers || live[i][k];
    bool is_left = twi_skip_dead(&tw, home);
    check(NULL);
    ASSERT(is_left == !twi_is_empty(home));
    ASSERT(is_left || !has_timers);
    if (!is_left)
        REACHED("none is left");
    else if (*home->front != NULL)
        REACHED("a timer");
    else if (home->front == chunk2.slots + first)
        REACHED("too many dead slots");
    else
        NEVER("a dead slot is left too soon");
}

/* Any slot of a bucket of three chunks becomes the last slot. */
void cut_off(void)
{
    make_bucket(CHUNKS);
    unsigned i = any_below(CHUNKS), k = any_below(TWI_SLOTS);
    ASSUME(is_in(home, &chunks[i]->slots[k]));
    tw_timer **front = home->front;
    twi_truncate(&tw, home, &chunks[i]->slots[k]);
    for (unsigned j = 0; j < CHUNKS; j++)
        for (unsigned l = 0; l < TWI_SLOTS; l++)
            live[j][l] = live[j][l] && (j < i || (j == i && l <= k));
    check(NULL);
    ASSERT(home->front == front && home->back == &chunks[i]->slots[k] + 1);
    ASSERT(chunks[i]->next == NULL && tw.in_use == i + 1);
    REACHED("the end");
}

/* twi_is_dead is true exactly for a chunk without a timer, in a bucket of 1 to
 * 3 chunks. A dead chunk leaves the bucket, and no timer leaves. The last chunk
 * of the overdue timers never counts as dead. */
static void prove_dead(twi_bucket *bucket, unsigned count)
{
    home = bucket;
    make_bucket(count);
    unsigned i = any_below(count);
    bool has_timers = false;
    for (unsigned k = 0; k < TWI_SLOTS; k++)
        has_timers = has_timers || live[i][k];
    bool stays = i + 1 == count && bucket == &tw.outside[TWI_OVERDUE];
    bool is_dead = twi_is_dead(&tw, chunks[i]);
    ASSERT(is_dead == (!has_timers && !stays));
    if (!is_dead)
        return;
    twi_remove_chunk(&tw, chunks[i]);
    check(NULL);
    ASSERT(chunks[i]->bucket == NULL && tw.unused == chunks[i]);
    REACHED("it leaves");
}

void dead(void)
{
    prove_dead(&tw.outside[TWI_STUCK], CHUNKS);
    prove_dead(&tw.outside[TWI_STUCK], 2);
    prove_dead(&tw.outside[TWI_STUCK], 1);
    ASSERT(!twi_is_dead(&tw, &spare));
}

void dead_overdue(void)
{
    prove_dead(&tw.outside[TWI_OVERDUE], 2);
}

/* Any timer in 1 or 2 chunks is cancelled. The slot becomes dead. If the timer
 * was started last, the slot is taken back, unless the slot is the first of a
 * later chunk. No timer changes except the cancelled one. */
static void prove_cancel(unsigned count)
{
    make_bucket(count);
    unsigned i = any_below(count), k = any_below(TWI_SLOTS);
    tw_timer **slot = &chunks[i]->slots[k], **room = home->back;
    ASSUME(live[i][k]);
    bool is_last = i + 1 == count && k + 1 == end;
    bool is_known = nondet_bool(), is_sorted = nondet_bool();
    tw.last_slot = is_known && !is_sorted ? slot : NULL;
    if (is_sorted)
        timers[i][k].place |= TWI_SORTED_BIT;
    tw.count = nondet_u32();
    ASSUME(tw.count != 0);
    size_t pending = tw.count;
    ASSERT(tw_cancel(&tw, &timers[i][k]));
    ASSERT(!twi_is_pending(&timers[i][k]) && tw.count == pending - 1);
    check(slot);
    if (tw.last_slot != NULL && is_last && (k > 0 || count == 1)) {
        ASSERT(home->back == slot);
        ASSERT(twi_push_back(&tw, home) == slot);
        REACHED("taken back");
    } else {
        ASSERT(home->back == room && *slot == NULL);
        REACHED("a dead slot");
    }
    ASSERT(!tw_cancel(&tw, &timers[i][k]));
}

void cancel(void)
{
    prove_cancel(1);
    prove_cancel(2);
}

/* A bucket of 1 to 3 chunks is large exactly if the bucket has more than
 * TWI_LARGE_CHUNKS chunks, for any gaps in the numbers of the chunks. */
void large(void)
{
    unsigned count = any_below(CHUNKS) + 1;
    make_bucket(count);
    ASSERT(twi_is_large(home) == (count > TWI_LARGE_CHUNKS));
    check(NULL);
    if (count > TWI_LARGE_CHUNKS)
        REACHED("it is");
    else
        REACHED("it is not");
}

/* Asserts that a slot in use without a timer is dead. */
static void check_unused_slots(void)
{
    unsigned i = any_below(CHUNKS), k = any_below(TWI_SLOTS);
    if (!live[i][k] && is_in(home, &chunks[i]->slots[k]))
        ASSERT(chunks[i]->slots[k] == NULL);
}

/* A bucket takes over all chunks of another bucket, `from`. The timers of
 * `from` come behind the timers of `home`, and no timer moves to another slot.
 * The buckets have `to_count` and `from_count` chunks. `to_empty` means that
 * `home` has no slot in use, and with to_count 0 no chunk either. */
static void prove_append(unsigned to_count, unsigned from_count, bool to_empty)
{
    twi_bucket *from = &tw.outside[TWI_OVERDUE];
    unsigned from_first = any_below(TWI_SLOTS);
    unsigned from_end = 1 + any_below(TWI_SLOTS);
    ASSUME(from_count > 1 || from_first <= from_end);
    if (to_count == 0)
        make_none();
    else if (to_empty)
        make_empty();
    else
        make_bucket(to_count);
    make_chain(from, to_count, from_count, from_first, from_end);
    tw.chunks = tw.in_use + 1;
    home->earliest = to_empty ? UINT64_MAX : EARLIEST;
    home->latest = to_empty ? 0 : LATEST;
    from->earliest = nondet_u64();
    from->latest = from->earliest + any_below(100);
    ASSUME(from->latest >= from->earliest);
    bool is_empty = twi_is_empty(from), was_empty = twi_is_empty(home);
    uint64_t earliest = from->earliest;
    size_t used = tw.in_use;
    twi_append_bucket(&tw, from, home);
    if (is_empty) {
        ASSERT(tw.in_use == used && twi_is_empty(home) == was_empty);
        REACHED("nothing to move");
        return;
    }
    unsigned count = check_bucket(home);
    ASSERT(count == from_count + (was_empty ? 0 : to_count));
    check_counts(count, 1);
    check_kept(home, NULL);
    check_unused_slots();
    ASSERT(from->back == NULL && from->front == NULL);
    ASSERT(from->earliest == UINT64_MAX && from->latest == 0);
    ASSERT(home->earliest <= earliest);
    ASSERT(was_empty || home->earliest <= EARLIEST);
    REACHED("moved");
}

void append(void)
{
    prove_append(2, 2, false);
    prove_append(1, 1, false);
    prove_append(0, 2, true);
    prove_append(1, 2, true);
}

/* Prefetching a chunk changes no slot. */
void prefetch(void)
{
    unsigned k = any_below(TWI_SLOTS);
    make_bucket(2);
    const twi_chunk before = chunk0;
    twi_prefetch(nondet_bool() ? &chunk0 : NULL);
    ASSERT(chunk0.slots[k] == before.slots[k]);
    REACHED("the end");
}
