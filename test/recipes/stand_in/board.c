/* board.c - the board of superloop.c. The board has a table of vectors, a tick
 * every millisecond, and a device that interrupts 20 times, every 20 ticks. The
 * clock stands if ODD_CLOCK is 1, steps back if 2, jumps if 3 (odd_clock.c).
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>

#ifndef ODD_CLOCK
#define ODD_CLOCK 0
#endif

extern void _start(void);
extern void on_tick(void);
extern void on_device(void);
extern volatile uint32_t ticks;

static void tick(void)
{
    static unsigned count;
    count++;
#if ODD_CLOCK == 1
    if (count % 70 >= 10)
        on_tick();
    if (count % 70 == 10)
        ticks += 10;
#else
    on_tick();
#endif
#if ODD_CLOCK == 2
    if (count % 100 == 0)
        ticks -= 25;
#elif ODD_CLOCK == 3
    if (count % 100 == 0)
        ticks += 3600000;
#endif
    if (count % 20 == 0 && count <= 20 * 20)
        on_device();
}

typedef void vector(void);

__attribute__((section(".vectors"), used)) static vector *const vectors[] = {
    [0] = (vector *)0x20400000, [1] = _start, [15] = tick};
