/* known.h - what is known of the functions of timingwheel.h that calculate with
 * the address of a slot, in words that CBMC understands.
 *
 * SPDX-License-Identifier: MIT
 *
 * CBMC does not see through an address that was rounded. So run.sh has it take
 * these functions in place of those, as long as a proof does not say otherwise:
 * they look for a slot among those of all chunks. That the ones of the header
 * say the same is proved in chunks.c: chunk_of, room and prefetch_few.
 *
 * Who includes this has defined KNOWN_CHUNKS and chunk_at, which tells the
 * chunks from 0 on.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include "prove.h"

twi_chunk *known_chunk_of(tw_timer *const *slot);
twi_chunk *known_chunk_of(tw_timer *const *slot)
{
    for (unsigned n = 0; n < KNOWN_CHUNKS; n++)
        for (unsigned k = 0; k < TWI_SLOTS; k++)
            if (slot == &chunk_at(n)->slots[k])
                return chunk_at(n);
    NEVER("it is a slot of a chunk");
    return NULL;
}

/* True if `room` is in the slots of the chunk, or at their end. That is asked
 * often, and costs least in terms of objects and offsets. */
static inline bool is_room_of(const twi_chunk *chunk, tw_timer *const *room)
{
    if (!__CPROVER_same_object(chunk, room))
        return false;
    size_t start = (size_t)__CPROVER_POINTER_OFFSET(chunk->slots);
    size_t at = (size_t)__CPROVER_POINTER_OFFSET(room);
    return at >= start && at <= start + sizeof(chunk->slots);
}

twi_chunk *known_tail(const twi_bucket *bucket);
twi_chunk *known_tail(const twi_bucket *bucket)
{
    twi_chunk *tail = NULL;
    for (unsigned n = 0; n < KNOWN_CHUNKS; n++)
        if (is_room_of(chunk_at(n), bucket->room))
            tail = chunk_at(n);
    ASSERT(tail != NULL);
    return tail;
}

/* Chunks stand at multiples of their size, in an object too. */
unsigned known_free_slots(const twi_bucket *bucket);
unsigned known_free_slots(const twi_bucket *bucket)
{
    size_t at = (size_t)__CPROVER_POINTER_OFFSET(bucket->room);
    size_t beyond = at % TWI_CHUNK_BYTES;
    ASSERT(bucket->room != NULL && at % sizeof(tw_timer *) == 0);
    ASSERT(beyond == 0 || beyond >= offsetof(twi_chunk, slots));
    return (unsigned)((TWI_CHUNK_BYTES - beyond) % TWI_CHUNK_BYTES /
                      sizeof(tw_timer *));
}

bool known_has_room(const twi_bucket *bucket);
bool known_has_room(const twi_bucket *bucket)
{
    return bucket->room != NULL && known_free_slots(bucket) != 0;
}

bool known_has_one_chunk(const twi_bucket *bucket);
bool known_has_one_chunk(const twi_bucket *bucket)
{
    return bucket->head == known_tail(bucket);
}

/* It only reads. The first slot in use is before the room, or the end. */
void known_prefetch_few(const twi_bucket *bucket);
void known_prefetch_few(const twi_bucket *bucket)
{
    ASSERT(bucket->head != NULL && bucket->head->first < TWI_SLOTS);
    ASSERT(!known_has_one_chunk(bucket) ||
           bucket->head->first + known_free_slots(bucket) < TWI_SLOTS);
}

#endif
