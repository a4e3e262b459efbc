/* board.c - the board of superloop.c: a table of vectors, a tick every
 * millisecond, and a device that interrupts 20 times, every 20 ticks.
 *
 * SPDX-License-Identifier: MIT */
extern void _start(void);
extern void on_tick(void);
extern void on_device(void);

static void tick(void)
{
    static unsigned count;
    on_tick();
    if (++count % 20 == 0 && count <= 20 * 20)
        on_device();
}

typedef void vector(void);

__attribute__((section(".vectors"), used)) static vector *const vectors[] = {
    [0] = (vector *)0x20400000, [1] = _start, [15] = tick};
