/* superloop.c - timingwheel.h in the main loop of a microcontroller without a
 * system, here a Cortex-M3. The loop only needs an interrupt every millisecond
 * (on_tick) and the interrupt of a device (on_device). The vector table of the
 * board must name both.
 *
 * The tick counter has 32 bits and wraps after 49 days, here within the run.
 * Each turn widens the counter to the 64 bits of the wheel. A step of half the
 * range or more counts as a step back.
 *
 * The example: a device interrupts 20 times, every 20 ms. Each time `soon` is
 * started, due before the sleep in progress would end, and `silence` postponed;
 * every fifth cancels it. Exit code: 1 for early, lost or late timers, 2 for
 * idle turns.
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <stdio.h>

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

void on_tick(void);
void on_device(void);

volatile uint32_t ticks = UINT32_MAX - 250; /* wraps during the run */
static volatile bool device_ready;
static uint64_t now; /* as read in this turn */
static int events, pending, fired, early, late, idle;

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
    uint32_t passed = ticks - (uint32_t)now;
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

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += now < tw_deadline(timer);
    late += now > tw_deadline(timer) + 9;
}

static void serve_device(timingwheel *tw)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    device_ready = false;
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(tw, &soon, tw_after(now, 2));
    tw_postpone(tw, &silence, tw_after(now, 150));
    if (++events % 5 == 0)
        pending -= tw_cancel(tw, &silence);
}

int main(void)
{
    timingwheel wheel;
    now = ticks;
    tw_config config = {.start = now, .wheel_size = 32};
    if (tw_init(&wheel, &config) != TW_OK ||
        tw_reserve(&wheel, 2, UINT64_MAX) != TW_OK) /* nothing fails later */
        return 1;
    REGISTER(0xE000E014) = 25000 - 1; /* SysTick: 1 ms at 25 MHz */
    REGISTER(0xE000E010) = 7;         /* processor clock, interrupt, on */
    while (events < 20 || tw_count(&wheel) > 0) {
        int before = events + fired;
        doze(tw_wait(&wheel, now, UINT32_MAX / 4));
        now = read_clock();
        if (device_ready)
            serve_device(&wheel);
        tw_advance_clock(&wheel, now);
        idle += events + fired == before;
    }
    tw_destroy(&wheel);
    printf("superloop: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, pending, late, idle);
    return (early || pending || late > 10) + 2 * (idle > 10);
}
