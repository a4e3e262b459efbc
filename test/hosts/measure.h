/* measure.h - random numbers and processor time, for programs of our own on a
 * host.
 *
 * SPDX-License-Identifier: MIT */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>
#include <time.h>

/* xorshift64, with a fixed seed: both builds of a host get the same numbers. */
static inline uint64_t next_random(void)
{
    static uint64_t state = UINT64_C(88172645463325252);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 16;
}

/* Returns the processor time of this process, in seconds. */
static inline double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Puts the numbers 0 to count - 1 into `order`, in random order. */
static inline void shuffle(int *order, int count)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int other = (int)(next_random() % (uint64_t)(i + 1));
        int kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

#endif
