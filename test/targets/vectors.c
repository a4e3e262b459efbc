/* vectors.c - the first two vectors of a program on the Cortex-M3: the stack,
 * which cortex-m3.ld places, and the start of the C library.
 *
 * SPDX-License-Identifier: MIT */
extern char __stack[];
extern void _start(void);

struct vectors {
    void *stack;
    void (*reset)(void);
};

extern const struct vectors vectors;
__attribute__((section(".vectors"), used))
const struct vectors vectors = {__stack, _start};
