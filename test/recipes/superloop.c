/* superloop.c - timers in the main loop of a microcontroller, without a system.
 * Says when you have not typed for 250 ms. Widens a counter of 16 bits, which
 * wraps every 65 s (here for the first time after 1 s). Sleeps so that no
 * interrupt is missed. A callback must not run the loop.
 *     arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -O2 -Wall -Wextra superloop.c \
 *         --specs=nosys.specs -Wl,--section-start=.vectors=0 -o tw.elf && \
 *         qemu-system-arm -M mps2-an385 -nographic -monitor none -kernel tw.elf
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>
#define MS 1 /* a tick, and the unit */
#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
static timingwheel timers;
static volatile uint16_t ticks = UINT16_MAX - 1000; /* milliseconds */
static volatile bool has_input; /* interrupts must not call the library */
static bool is_stopped;
static void on_input(void);

/* Call it at least once in 65 s, or the clock loses 65 s. */
static uint64_t read_clock(void)
{
    static uint64_t now = UINT16_MAX - 1000;
    return now += (uint16_t)(ticks - (uint16_t)now);
}

static void init(void)
{
    tw_init(&timers, &(tw_config){.start = read_clock(), .wheel_size = 32});
    REGISTER(0xe000e014) = 25000 - 1; /* SysTick: a millisecond at 25 MHz */
    REGISTER(0xe000e010) = 7;         /* processor clock, interrupt, on */
    REGISTER(0x40004010) = 16;        /* UART: the rate */
    REGISTER(0x40004008) = 11;        /* send, receive, interrupt */
    REGISTER(0xe000e100) = 1;         /* interrupt 0 is the UART's */
}

static void on_tick(void)
{
    ticks++;
}

static void on_byte(void)
{
    REGISTER(0x4000400c) = 2; /* acknowledged first: the next byte interrupts */
    (void)REGISTER(0x40004000);
    has_input = true;
}

/* Ends `run` after this turn. For callbacks, and where input is handled. */
void stop(void)
{
    is_stopped = true;
}

static void run(void)
{
    for (is_stopped = false; !is_stopped;) {
        uint64_t end = read_clock() + tw_wait(&timers, read_clock(), 30000);
        __asm__ volatile("cpsid i"); /* a pending interrupt ends wfi, too */
        while (!has_input && read_clock() < end)
            __asm__ volatile("wfi\n cpsie i\n isb\n cpsid i" ::: "memory");
        __asm__ volatile("cpsie i");
        tw_advance_clock(&timers, read_clock());
        if (has_input) {
            has_input = false;
            on_input();
        }
    }
}

/* The example. It runs for ever. */
static tw_timer silence;

static void print(const char *text)
{
    for (; *text != '\0'; text++)
        REGISTER(0x40004000) = (unsigned char)*text;
}

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    static unsigned count;
    char text[32];
    (void)tw, (void)timer;
    if (has_input) /* came while the loop stood still: it starts again */
        return;
    snprintf(text, sizeof(text), "silence %u\n", ++count);
    print(text);
}

static void on_input(void)
{
    /* 1 ms more: the reading was cut off */
    tw_postpone_after(&timers, &silence, read_clock(), 251);
}

int main(void)
{
    init();
    tw_timer_init(&silence, on_silence);
    run();
    return 0;
}

extern void _start(void); /* sets memory up, and calls main */
__attribute__((section(".vectors"), used)) static const uintptr_t vectors[] = {
    0x400000, (uintptr_t)_start, [15] = (uintptr_t)on_tick, (uintptr_t)on_byte};
