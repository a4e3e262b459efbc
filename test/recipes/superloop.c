/* superloop.c - timingwheel.h in the main loop of a microcontroller without a
 * system, here a Cortex-M3. The loop needs an interrupt every millisecond
 * (on_tick) and the interrupt of a device (on_device). The vector table of the
 * board must name both. An interrupt must not call the library: the interrupt
 * sets a flag for the main loop.
 *
 * The tick counter has 32 bits and wraps after 49 days, here within the run.
 * Each turn widens the counter to the 64 bits of the wheel. Half the range or
 * more counts as a step back: without that rule, a counter that steps back by
 * one would move the clock by 49 days. The loop must turn once in 24 days.
 *
 * The example is in judge.h; static.c shows the library without malloc.
 *
 * SPDX-License-Identifier: MIT */
#define MS 1
#include "judge.h"

#define FIRST_TICK (UINT32_MAX - 250) /* the counter wraps during the run */
#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

void on_tick(void);
void on_device(void);
static volatile uint32_t ticks;
static volatile bool device_ready;

void on_tick(void)
{
    ticks++;
}

void on_device(void)
{
    device_ready = true;
}

static uint64_t read_clock(void)
{
    uint32_t counter = FIRST_TICK + (uint32_t)judge_odd(ticks);
    uint32_t passed = counter - (uint32_t)now;
    return passed <= UINT32_MAX / 2 ? now + passed : now;
}

/* Interrupts are off during the decision: `wfi` would sleep through an earlier
 * interrupt. A pending interrupt ends `wfi`, too. */
static void doze(uint64_t wait)
{
    uint64_t end = tw_after(now, wait);
    __asm__ volatile("cpsid i");
    while (!device_ready && read_clock() < end)
        __asm__ volatile("wfi\n cpsie i\n isb\n cpsid i" ::: "memory");
    __asm__ volatile("cpsie i");
}

int main(void)
{
    now = FIRST_TICK;
    tw_init(&wheel, &(tw_config){.start = now, .wheel_size = 32});
    if (tw_reserve(&wheel, tw_after(now, 60000)) != TW_OK)
        return 1;
    REGISTER(0xE000E014) = 25000 - 1; /* SysTick: 1 ms at 25 MHz */
    REGISTER(0xE000E010) = 7;         /* processor clock, interrupt, on */
    while (judge_turn()) {
        doze(tw_wait(&wheel, now, UINT32_MAX / 4));
        now = read_clock();
        tw_advance_clock(&wheel, now);
        if (device_ready) {
            device_ready = false;
            judge_event();
        }
    }
    return judge_end("superloop", true);
}
