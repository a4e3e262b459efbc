/* avr.c - timers at any distance on an AVR, whose int has 16 bits and which has
 * 8 KB of memory: wheels while there is memory, else timers that wait. Each
 * fires at its deadline. Prints TAP to the serial line, which simavr prints.
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/random.h"
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

enum { TIMERS = 10, ROUNDS = 60 };

static timingwheel tw;
static tw_timer timers[TIMERS];
static unsigned fired, wrong;

static void put(const char *text)
{
    for (UCSR0B |= 1 << TXEN0; *text != '\0'; text++) {
        while ((UCSR0A & 1 << UDRE0) == 0)
            ;
        UDR0 = (uint8_t)*text;
    }
}

static void on_fire(timingwheel *its_wheel, tw_timer *timer)
{
    fired++;
    wrong += tw_now(its_wheel) != tw_deadline(timer);
}

static void play_round(uint64_t *random)
{
    tw_config config = {1, 0, UINT32_C(2) << random_below(random, 4), 0, NULL};
    uint64_t next;
    wrong += tw_init(&tw, &config) != TW_OK;
    for (unsigned i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], on_fire);
    for (unsigned i = 0; i < 3 * TIMERS; i++) {
        uint64_t delay = random_magnitude(random);
        tw_timer *timer = &timers[random_below(random, TIMERS)];
        wrong += i % 3 == 0 ? tw_postpone_after(&tw, timer, tw_now(&tw), delay)
                            : tw_start_after(&tw, timer, tw_now(&tw), delay);
        if (i % 3 == 2 && tw_next_deadline(&tw, &next))
            (void)tw_advance_clock(&tw, next);
        wrong += !tw_check(&tw);
    }
    while (tw_next_deadline(&tw, &next))
        (void)tw_advance_clock(&tw, next);
    wrong += tw_count(&tw) != 0;
    tw_destroy(&tw);
}

int main(void)
{
    uint64_t random = 1;
    __malloc_margin = 1700; /* bytes of stack */
    for (unsigned i = 0; i < ROUNDS; i++)
        play_round(&random);
    put(fired > ROUNDS && wrong == 0 ? "ok" : "not ok");
    put(" 1 - timers at any distance fire at their deadlines\n1..1\n");
    cli(); /* to sleep without interrupts ends the simulation */
    sleep_mode();
    return 0;
}
