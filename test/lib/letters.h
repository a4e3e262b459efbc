/* letters.h - a wheel `tw` and the timers a to z, to test the contract.
 *
 * A case begins with begin() or set_up() and ends with end(). start('a', 100)
 * starts timer a. FIRES(100, "ab") advances the clock to 100. It checks that
 * timer a fired, then timer b, and no further timer.
 *
 * Includes the header with its implementation, and a counting heap.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LETTERS_H
#define LETTERS_H

#include "heap.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "tap.h"

#include <limits.h>

/* ------------------------------------------------- the wheel and its timers */

#define LOG_SIZE 4096

/* A timer with a letter as its name, and the action of its callback. */
typedef struct letter {
    tw_timer timer; /* first: a pointer to the timer is a pointer to the
                     * letter */
    char name;
    void (*act)(struct letter *self); /* may be NULL */
    struct letter *other;             /* the timer to act on */
    uint64_t value;                   /* the deadline or delay for `other` */
    int status;                       /* result of the action */
} letter;

static heap memory;
static timingwheel tw;
static letter letters[26];

/* The timers fired in the last call, and the clock in each callback. */
static char fired[LOG_SIZE + 1];
static uint64_t fired_at[LOG_SIZE];
static size_t fired_count;

static inline letter *named(char name)
{
    return &letters[name - 'a'];
}

static inline tw_timer *timer_of(char name)
{
    return &named(name)->timer;
}

static inline void log_fired(const tw_timer *timer)
{
    if (fired_count == LOG_SIZE)
        return;
    fired_at[fired_count] = tw_now(&tw);
    fired[fired_count++] = ((const letter *)timer)->name;
    fired[fired_count] = '\0';
}

static inline void clear_log(void)
{
    fired_count = 0;
    fired[0] = '\0';
}

static inline void on_fire(timingwheel *wheel, tw_timer *timer)
{
    letter *self = TW_OWNER(timer, letter, timer);
    CHECK(wheel == &tw);
    log_fired(timer);
    if (self->act != NULL)
        self->act(self);
}

/* Begins a case with a fresh wheel and idle timers. */
static inline void set_up(uint64_t tick, uint64_t start, uint32_t wheel_size,
                          size_t max_pending)
{
    static const heap empty_heap;
    static const letter idle;
    memory = empty_heap;
    tw_config config = {tick, start, wheel_size, max_pending, &memory};
    CHECK(tw_init(&tw, &config) == TW_OK);
    for (int i = 0; i < 26; i++) {
        letters[i] = idle;
        letters[i].name = (char)('a' + i);
        tw_timer_init(&letters[i].timer, on_fire);
    }
    clear_log();
}

static inline void begin(void)
{
    set_up(1, 0, 0, 0);
}

static inline void begin_at(uint64_t start)
{
    set_up(1, start, 0, 0);
}

/* Ends a case: the wheel is sound and gives all memory back. */
static inline void end(void)
{
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
    CHECK(memory.blocks == 0);
    CHECK(memory.bytes == 0);
    CHECK(memory.strays == 0);
}

static inline int start(char name, uint64_t deadline)
{
    return tw_start(&tw, timer_of(name), deadline);
}

static inline int start_within(char name, uint64_t earliest, uint64_t latest)
{
    return tw_start_within(&tw, timer_of(name), earliest, latest);
}

static inline int postpone(char name, uint64_t deadline)
{
    return tw_postpone(&tw, timer_of(name), deadline);
}

static inline bool cancel(char name)
{
    return tw_cancel(&tw, timer_of(name));
}

static inline tw_state state_of(char name)
{
    return tw_timer_state(timer_of(name));
}

/* Sets the action of the callback of `name`, on the timer `other`. */
static inline void when_fired(char name, void (*act)(letter *), char other,
                              uint64_t value)
{
    named(name)->act = act;
    named(name)->other = named(other);
    named(name)->value = value;
}

static inline bool log_is(const char *expected, const char *what, int line)
{
    if (strcmp(fired, expected) == 0)
        return true;
    printf("# line %d: %s fired \"%s\", not \"%s\"\n", line, what, fired,
           expected);
    return false;
}

static inline bool advance_fires(uint64_t now, size_t limit,
                                 const char *expected, int line)
{
    clear_log();
    size_t count = tw_advance_clock_limit(&tw, now, limit);
    return log_is(expected, "the call", line) && count == fired_count &&
           tw_check(&tw);
}

static inline bool polls(uint64_t now, const char *expected, int line)
{
    const tw_timer *timer;
    clear_log();
    while ((timer = tw_poll(&tw, now)) != NULL && fired_count < LOG_SIZE)
        log_fired(timer);
    return log_is(expected, "polling", line) && tw_check(&tw);
}

#define FIRES(now, expected) \
    CHECK(advance_fires((now), SIZE_MAX, (expected), __LINE__))
#define FIRES_AT_MOST(limit, now, expected) \
    CHECK(advance_fires((now), (limit), (expected), __LINE__))
#define POLLS(now, expected) CHECK(polls((now), (expected), __LINE__))

/* The next deadline; 12345 stands for none. */
static inline uint64_t next(void)
{
    uint64_t deadline = 12345;
    CHECK(tw_next_deadline(&tw, &deadline) == (tw_count(&tw) != 0));
    return deadline;
}

static inline tw_stats stats(void)
{
    tw_stats s;
    tw_get_stats(&tw, &s);
    return s;
}

/* The state that a refused call must not change. */
typedef struct snapshot {
    timingwheel wheel;
    letter letters[26];
    heap memory;
} snapshot;

static snapshot before;

static inline void remember(void)
{
    before.wheel = tw;
    before.memory = memory;
    memcpy(before.letters, letters, sizeof letters);
}

/* True if nothing has changed, private fields included. The caches of the wheel
 * may differ. */
static inline bool unchanged(void)
{
    timingwheel now;
    memcpy(&now, &tw, sizeof now);
    now.last_wheel = before.wheel.last_wheel;
    now.last_slot = before.wheel.last_slot;
    return memcmp(&before.wheel, &now, sizeof now) == 0 &&
           memcmp(before.letters, letters, sizeof letters) == 0 &&
           memory.calls == before.memory.calls &&
           memory.bytes == before.memory.bytes && tw_check(&tw);
}

static uint64_t random_state;

/* xorshift64: the same numbers on every machine. */
static inline uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

/* ----------------------------------------------- what callbacks here can do */

static inline void act_start(letter *self)
{
    self->status = tw_start(&tw, &self->other->timer, self->value);
}

static inline void act_start_after(letter *self)
{
    uint64_t deadline = tw_after(tw_now(&tw), self->value);
    self->status = tw_start(&tw, &self->other->timer, deadline);
}

static inline void act_postpone(letter *self)
{
    self->status = tw_postpone(&tw, &self->other->timer, self->value);
}

static inline void act_cancel(letter *self)
{
    self->status = tw_cancel(&tw, &self->other->timer);
}

/* Many timers in few ticks. `number` counts the starts. */
typedef struct ticket {
    tw_timer timer;
    size_t number;
} ticket;

#define TICKETS 3000

static ticket tickets[TICKETS];
static const ticket *last_ticket;
static size_t misplaced;

static inline void on_ticket(timingwheel *wheel, tw_timer *timer)
{
    const ticket *this_one = (const ticket *)timer;
    (void)wheel;
    if (last_ticket != NULL) {
        uint64_t was = tw_deadline(&last_ticket->timer);
        uint64_t is = tw_deadline(timer);
        misplaced +=
            was > is || (was == is && last_ticket->number > this_one->number);
    }
    last_ticket = this_one;
}

static inline void deal_tickets(uint64_t span)
{
    last_ticket = NULL;
    misplaced = 0;
    for (size_t i = 0; i < TICKETS; i++) {
        tw_timer_init(&tickets[i].timer, on_ticket);
        tickets[i].number = i;
        CHECK(tw_start(&tw, &tickets[i].timer, 1 + random_below(span)) ==
              TW_OK);
    }
}

/* Sleeps by tw_wait until nothing is pending; returns the wake-ups. */
static inline size_t sleep_through(size_t *idle)
{
    uint64_t now = tw_now(&tw);
    size_t wake_ups = 0;
    while (tw_count(&tw) != 0) {
        now += tw_wait(&tw, now, UINT64_MAX);
        wake_ups++;
        *idle += tw_advance_clock(&tw, now) == 0;
    }
    return wake_ups;
}

#endif
