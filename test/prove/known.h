/* known.h - what is known of functions that CBMC cannot look into.
 *
 * SPDX-License-Identifier: MIT
 *
 * CBMC does not see through an address that was rounded. So prove.sh replaces
 * twi_chunk_of and twi_slot_of by functions of the same meaning, which compare
 * with the slots of all chunks. The place in front of the first slot of a chunk
 * counts too: the last slot of an emptied chunk would be there. That the
 * header's functions have this meaning is proved in chunks.c, by chunk_of and
 * slot_of.
 *
 * Where a bucket gets a chunk, twi_provide is replaced: the replacement takes
 * any chunks without a timer out of their buckets, and there is memory if a
 * chunk is unused then. That the header's function does no more is proved in
 * chunks.c, by provide; there twi_sweep is replaced in the same way, and
 * twi_add_slab adds no chunk, or one. What the header's twi_sweep does is
 * proved in slabs.c.
 *
 * A file that includes this one has defined KNOWN_CHUNKS and chunk_at, which
 * returns the chunks from 0 on.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include "prove.h"

twi_chunk *known_chunk_of(tw_timer *const *slot);
twi_chunk *known_chunk_of(tw_timer *const *slot)
{
    for (unsigned n = 0; n < KNOWN_CHUNKS; n++)
        for (unsigned k = 0; k <= TWI_SLOTS; k++)
            if (slot + 1 == chunk_at(n)->slots + k)
                return chunk_at(n);
    NEVER("it is a slot of a chunk");
    return NULL;
}

tw_timer **known_slot_of(const tw_timer *timer);
tw_timer **known_slot_of(const tw_timer *timer)
{
    for (unsigned n = 0; n < KNOWN_CHUNKS; n++)
        for (unsigned k = 0; k < TWI_SLOTS; k++) {
            uintptr_t place = (uintptr_t)(chunk_at(n)->slots + k);
            if (timer->place == place ||
                timer->place == (place | TWI_SORTED_BIT))
                return chunk_at(n)->slots + k;
        }
    NEVER("the timer is in a slot of a chunk");
    return NULL;
}

void known_sweep(timingwheel *home, size_t number, size_t wanted);
void known_sweep(timingwheel *home, size_t number, size_t wanted)
{
    (void)number, (void)wanted;
    for (unsigned n = 0; n < KNOWN_CHUNKS; n++)
        if (nondet_bool() && twi_is_dead(home, chunk_at(n)))
            twi_remove_chunk(home, chunk_at(n));
}

bool known_provide(timingwheel *home, size_t wanted);
bool known_provide(timingwheel *home, size_t wanted)
{
    known_sweep(home, 0, wanted);
    return home->chunks - home->in_use >= wanted;
}

bool known_add_slab(timingwheel *home, size_t number);
bool known_add_slab(timingwheel *home, size_t number)
{
    static twi_chunk added;
    static bool is_added;
    ASSERT(number != 0);
    if (is_added || nondet_bool())
        return false;
    is_added = true;
    added.next = home->unused;
    home->unused = &added;
    home->chunks++;
    return true;
}

#endif
