/* tickless.c - a microcontroller that sleeps until a timer is due. It counts
 * 16 bits, which wrap each 2 s, and a compare register ends the sleep. Other
 * interrupts start and cancel timers by requests. No malloc, atomics, division.
 *     arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -Os -Wall -Wextra tickless.c \
 *         -nostartfiles -Wl,-Tdata=0x20000000,--section-start=.vectors=0 \
 *         -Wl,-emain -o tl.elf && qemu-system-arm -M microbit -nographic \
 *         -monitor none -kernel tl.elf
 * SPDX-License-Identifier: MIT */
static void *take_wheel(void);
#define TW_MALLOC(size, context) ((void)(size), (void)(context), take_wheel())
#define TW_FREE(wheel, context) ((void)(wheel), (void)(context))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define LOCK() __asm__ volatile("cpsid i" ::: "memory")
#define UNLOCK() __asm__ volatile("cpsie i" ::: "memory")
/* In counts. SETUP: until the compare register works. 10 wheels serve 33 s. */
enum { SECOND = 31250, SETUP = 2, WHEEL_SIZE = 4, WHEELS = 10 };

static void *take_wheel(void)
{
    static uint64_t wheels[WHEELS][TW_WHEEL_BYTES(WHEEL_SIZE) / 8];
    static unsigned taken;
    return taken < WHEELS ? wheels[taken++] : NULL;
}

static uint16_t counter(void)
{
    return REGISTER(0x40008044) = 1, (uint16_t)REGISTER(0x40008544);
}

/* In the main loop, at least once per wrap. Sleeps are not added up. */
static uint64_t read_clock(void)
{
    static uint64_t now;
    return now += (uint16_t)(counter() - (uint16_t)now);
}

/* A timer for interrupts. The last request counts, and none can fail. */
struct request {
    tw_timer timer;
    struct request *next;
    uint32_t delay; /* 0 cancels */
    uint16_t at;    /* the counter */
    bool is_posted;
};
static struct request *volatile posted; /* the newest first */

static void post(struct request *r, uint32_t delay) /* with interrupts on */
{
    LOCK();
    r->at = counter(), r->delay = delay;
    if (!r->is_posted)
        r->is_posted = true, r->next = posted, posted = r;
    UNLOCK();
}

static void collect(timingwheel *tw) /* within a wrap */
{
    for (struct request *r; (r = posted) != NULL;) {
        LOCK();
        r = posted; /* an interrupt may have posted another */
        uint64_t now = read_clock(), delay = r->delay;
        uint16_t passed = (uint16_t)((uint16_t)now - r->at);
        posted = r->next, r->is_posted = false;
        UNLOCK();
        if (delay == 0)
            tw_cancel(tw, &r->timer);
        else /* 1 more, because the count was cut off */
            tw_start_after(tw, &r->timer, now - passed, delay + 1);
    }
}

/* Returns at `end`, less than a wrap ahead, or earlier. */
static void sleep_until(uint64_t end)
{
    LOCK(); /* a pending interrupt ends wfi all the same */
    REGISTER(0x40008540) = (uint16_t)end;
    if (posted == NULL && read_clock() + SETUP <= end) /* else it may miss */
        __asm__ volatile("wfi" ::: "memory");
    UNLOCK();
}

/* The program: a lamp blinks, and a key is read 20 ms after its edge. */
static tw_timer blink;
static struct request key;

static void on_counter(void)
{
    REGISTER(0x40008140) = 0;
    if (REGISTER(0x40008148) != 0) /* each 0.25 s, in place of an edge */
        REGISTER(0x40008548) += SECOND / 4, post(&key, SECOND / 50);
    REGISTER(0x40008148) = 0;
}

static void print(char name, unsigned number)
{
    REGISTER(0x4000251c) = (unsigned char)name;
    for (unsigned digit = 100000; digit > 0; digit /= 10)
        REGISTER(0x4000251c) = '0' + number / digit % 10;
    REGISTER(0x4000251c) = '\n';
}

static void on_time(timingwheel *tw, tw_timer *timer)
{
    uint64_t now = read_clock(), at = tw_deadline(timer);
    print(timer == &blink ? 'b' : 'k', (unsigned)(now - at)); /* lateness */
    if (timer == &blink)
        tw_start(tw, timer, tw_next_period(at, SECOND / 2, now, NULL));
}

int main(void)
{
    static timingwheel timers;
    tw_init(&timers, &(tw_config){.wheel_size = WHEEL_SIZE});
    tw_reserve(&timers, UINT64_MAX); /* takes all wheels */
    tw_timer_init(&key.timer, on_time), tw_timer_init(&blink, on_time);
    REGISTER(0x40002500) = 4, REGISTER(0x40002008) = 1; /* UART */
    REGISTER(0x40008510) = 9;                           /* 16 MHz / 2^9 */
    REGISTER(0x40008304) = 5 << 16, REGISTER(0xe000e100) = 256; /* interrupts */
    REGISTER(0x40008548) = SECOND / 4, REGISTER(0x40008000) = 1; /* it counts */
    tw_start_after(&timers, &blink, read_clock(), SECOND / 2);
    for (unsigned wakes = 0;; wakes++) {
        uint64_t now = read_clock();
        sleep_until(now + tw_wait(&timers, now, SECOND)); /* half a wrap */
        collect(&timers);
        if (tw_advance_clock(&timers, read_clock()) > 0)
            print('w', wakes);
    }
}

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[] = {
    0x20004000, (uintptr_t)main, [24] = (uintptr_t)on_counter};
