/* static.c - timingwheel.h without malloc, on a microcontroller without a C
 * library; here a Cortex-M3. tw_reserve takes all memory from an array, at the
 * start. From then on no start can fail, up to TIMERS pending timers with
 * deadlines up to HORIZON: a point in time, 100 years after the start. An
 * interrupt must not call the library: it sets a flag for the main loop.
 *
 * The example: a device interrupts 20 times. Each time a far timer starts, and
 * `soon` starts if idle. Exit code: 1 for early, lost or late timers, or for
 * memory that is short, or that is taken later; 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#ifndef SIZE
#define SIZE 16 /* of a wheel: 8, 16, 32 or 64 */
#endif
#define HORIZON (UINT64_C(100) * 365 * 24 * 3600 * 1000) /* 42 bits of ms */
#define WHEELS (SIZE > 32 ? 7 : SIZE > 16 ? 9 : SIZE > 8 ? 11 : 14)
#define TIMERS 16
#define MEMORY (WHEELS * (192 + 48 * SIZE) + TIMERS * 72 + 768)

static uint64_t pool[MEMORY / 8];
static uint32_t taken; /* in units of 8 bytes, with refused requests */

static void *take(uint32_t bytes)
{
    uint32_t start = taken;
    taken += (bytes + 7) / 8;
    return taken <= MEMORY / 8 ? &pool[start] : (void *)0;
}
#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) ((void)(pointer), (void)(context))
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

void report(const char *what, uint32_t number); /* prints; of the board */

volatile uint32_t ticks;
static volatile bool is_requested; /* the device wants its timers started */
static timingwheel wheel;
static uint64_t now; /* as read in this turn */
static uint32_t events, fired, early, lost, late, idle;

void on_tick(void)
{
    ticks++;
}

void on_device(void)
{
    is_requested = true;
}

static uint64_t read_clock(void) /* see superloop.c, as for the sleep */
{
    uint32_t passed = ticks - (uint32_t)now;
    return passed <= UINT32_MAX / 2 ? now + passed : now;
}

static void on_soon(timingwheel *tw, tw_timer *timer)
{
    (void)tw, fired++, lost--;
    early += tw_deadline(timer) > now, late += now > tw_deadline(timer) + 9;
}

static void start_timers(timingwheel *tw)
{
    static tw_timer soon = TW_TIMER_INIT(on_soon), others[TIMERS - 1];
    uint32_t i = events++ % (TIMERS - 1);
    is_requested = false;
    if (!tw_is_pending(&soon))
        lost += tw_start(tw, &soon, tw_after(now, 45)) == TW_OK ? 1 : 2;
    lost += tw_start(tw, &others[i], HORIZON >> i) != TW_OK;
}

int main(void)
{
    volatile uint32_t *systick = (volatile uint32_t *)(uintptr_t)0xE000E010;
    if (tw_init(&wheel, &(tw_config){.wheel_size = SIZE}) != TW_OK ||
        tw_reserve(&wheel, TIMERS, HORIZON) != TW_OK)
        return 1;
    uint32_t reserved = taken;
    systick[1] = 25000 - 1, systick[0] = 7; /* 1 ms at 25 MHz; on */
    while (events < 20 || tw_count(&wheel) >= TIMERS) {
        uint64_t end = tw_after(now, tw_wait(&wheel, now, 1000));
        uint32_t before = events + fired;
        __asm__ volatile("cpsid i");
        while (!is_requested && read_clock() < end)
            __asm__ volatile("wfi\n cpsie i\n isb\n cpsid i" ::: "memory");
        __asm__ volatile("cpsie i");
        now = read_clock();
        if (is_requested)
            start_timers(&wheel);
        tw_advance_clock(&wheel, now);
        idle += events + fired == before;
    }
    lost += tw_count(&wheel) != TIMERS - 1;
    report("fired", fired), report("early", early), report("lost", lost);
    report("late", late), report("idle", idle), report("bytes", taken * 8);
    return (early || lost || late > 10 || taken != reserved) + 2 * (idle > 10);
}
