/* random.h - the generator of random numbers of all tests (splitmix64). Equal
 * seeds give equal numbers on every machine.
 *
 *     uint64_t state = seed;
 *     random_below(&state, 6) + 1;
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* Returns 64 random bits. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t bits = *state += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* Returns a number from 0 to below - 1; any 64 bits if `below` is 0. Small
 * numbers are favoured by less than below / 2^32. */
static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
    uint64_t bits = random_next(state);
    if (below == 0)
        return bits;
    return below >> 32 == 0 ? (bits >> 32) * below >> 32 : bits % below;
}

/* Returns a number of any magnitude up to 2^64: each length in bits is equally
 * likely. */
static inline uint64_t random_magnitude(uint64_t *state)
{
    unsigned shift = (unsigned)random_below(state, 65);
    return shift == 64 ? 0 : random_next(state) >> shift;
}

#endif
