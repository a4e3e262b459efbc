/* inside.h - what tests read of a timingwheel's private fields, so that a
 * change of the fields is a change of few lines here. Include it after the
 * implementation.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSIDE_H
#define INSIDE_H

/* Returns the wheel of a level, 0 the finest; NULL: missing. */
static inline twi_wheel *wheel_at(timingwheel *tw, unsigned level)
{
    unsigned bit = level * tw->size_bits;
    twi_wheel *wheel = bit < 64 ? tw->wheel_by_bit[bit] : &tw->missing;
    return wheel == &tw->missing ? NULL : wheel;
}

#endif
