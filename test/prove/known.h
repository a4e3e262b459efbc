/* known.h - replacements for functions beyond CBMC's analysis.
 *
 * SPDX-License-Identifier: MIT
 *
 * CBMC cannot follow a rounded address. Therefore prove.sh replaces
 * twi_chunk_of and twi_slot_of by functions of the same meaning, which compare
 * with the slots of all chunks. The place in front of the first slot of a chunk
 * counts as a slot, as the last slot of an emptied chunk. The proofs chunk_of
 * and slot_of in chunks.c show the equal meaning of the header's functions.
 *
 * For proofs of adding a chunk to a bucket, prove.sh replaces twi_provide. The
 * replacement takes any chunks without a timer out of their buckets. Memory is
 * available if enough chunks are unused then. The proof `provide` in chunks.c
 * shows that the header's function does no more. For `provide`, prove.sh
 * replaces twi_sweep in the same way. The replacement of twi_add_slab adds a
 * chunk or none. The proof in slabs.c covers the header's twi_sweep.
 *
 * A file that includes known.h has defined KNOWN_CHUNKS and chunk_at. chunk_at
 * returns a chunk by number, from 0 on.
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
