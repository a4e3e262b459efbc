/* known.h - what is known of twi_chunk_of, which calculates with the address of
 * a slot, in words that CBMC understands.
 *
 * SPDX-License-Identifier: MIT
 *
 * CBMC does not see through an address that was rounded. So run.sh has it take
 * this function in place of that: it looks for a slot among those of all
 * chunks, and the place in front of the first, which is where the last slot of
 * an emptied chunk would be. That the one of the header says the same is proved
 * in chunks.c: chunk_of.
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
        for (unsigned k = 0; k <= TWI_SLOTS; k++)
            if (slot + 1 == chunk_at(n)->slots + k)
                return chunk_at(n);
    NEVER("it is a slot of a chunk");
    return NULL;
}

#endif
