/* wheels.c - proof of the search through a bitmap of timingwheel.h: in a wheel
 * of 2^SIZE_BITS buckets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#define WORDS (4096 / 64)

#ifndef SIZE_BITS
#define SIZE_BITS 8
#endif

static twi_wheel wheel;
static uint64_t marks[WORDS];

static bool is_marked(uint32_t index)
{
    return (marks[index / 64] >> (index % 64) & 1) != 0;
}

/* Any bitmap of a wheel of that size. */
static void make_bitmap(unsigned size_bits)
{
    set_size(size_bits);
    wheel.marks = marks;
    for (uint32_t word = 0; word < WORDS; word++) {
        marks[word] = 0;
        if (word * 64 <= tw.size_mask)
            marks[word] = nondet_u64();
    }
#if SIZE_BITS < 6
    ASSUME(marks[0] >> (1 << SIZE_BITS) == 0);
#endif
}

static uint32_t ahead_of_clock(uint32_t index)
{
    uint32_t own = twi_index_of(&tw, &wheel, tw.clock);
    return (index + tw.size_mask + 1 - own) & tw.size_mask;
}

static void check_first(uint32_t first)
{
    uint32_t other = any_below(tw.size_mask + 1);
    ASSERT(first <= tw.size_mask);
    ASSERT(is_marked(first));
    if (is_marked(other))
        ASSERT(ahead_of_clock(first) <= ahead_of_clock(other));
}

/* Any level, clock and bitmap: the bit found is set, and no other is nearer to
 * the clock, going round; or there is none. */
void find_mark(void)
{
    uint32_t first;
    make_bitmap(SIZE_BITS);
    wheel.shift = any_below(64);
    tw.clock = nondet_u64();
    if (twi_find_mark(&tw, &wheel, &first)) {
        check_first(first);
        REACHED("the end, one found");
    } else {
        ASSERT(!is_marked(any_below(tw.size_mask + 1)));
        REACHED("the end, none found");
    }
}
