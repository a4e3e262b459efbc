/* promises.c - every function and every promise of the contract in the header,
 * one small named case each; the number in a name is the promise's.
 *
 * Most cases use the wheel `tw` and timers with names of one letter. FIRES(100,
 * "ab") advances the clock to 100 and checks that a and then b fired, and none
 * else.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/heap.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

#include <limits.h>

/* ------------------------------------------------- the wheel and its timers */

#define LOG_SIZE 4096

/* A timer with a letter for a name, and what its callback does. */
typedef struct probe {
    tw_timer timer; /* first, so that a pointer to it is one to the probe */
    char name;
    void (*act)(struct probe *self); /* may be NULL                        */
    struct probe *other;             /* what it does that to ...           */
    uint64_t value;                  /* ... with which deadline            */
    int status;                      /* what came of it                    */
} probe;

static heap memory;
static timingwheel tw;
static probe probes[26];

/* What has fired in the last call, and the clock that its callbacks saw. */
static char fired[LOG_SIZE + 1];
static uint64_t fired_at[LOG_SIZE];
static size_t fired_count;

static probe *named(char name)
{
    return &probes[name - 'a'];
}

static tw_timer *timer_of(char name)
{
    return &named(name)->timer;
}

static void log_fired(const tw_timer *timer)
{
    if (fired_count == LOG_SIZE)
        return;
    fired_at[fired_count] = tw_now(&tw);
    fired[fired_count++] = ((const probe *)timer)->name;
    fired[fired_count] = '\0';
}

static void clear_log(void)
{
    fired_count = 0;
    fired[0] = '\0';
}

static void on_fire(timingwheel *wheel, tw_timer *timer)
{
    probe *self = TW_OWNER(timer, probe, timer);
    CHECK(wheel == &tw);
    log_fired(timer);
    if (self->act != NULL)
        self->act(self);
}

/* Begins a case with a fresh wheel and idle timers. */
static void set_up(uint64_t tick, uint64_t start, uint32_t wheel_size,
                   size_t max_pending)
{
    static const heap empty_heap;
    static const probe idle;
    memory = empty_heap;
    tw_config config = {tick, start, wheel_size, max_pending, &memory};
    CHECK(tw_init(&tw, &config) == TW_OK);
    for (int i = 0; i < 26; i++) {
        probes[i] = idle;
        probes[i].name = (char)('a' + i);
        tw_timer_init(&probes[i].timer, on_fire);
    }
    clear_log();
}

static void begin(void)
{
    set_up(1, 0, 0, 0);
}

static void begin_at(uint64_t start)
{
    set_up(1, start, 0, 0);
}

/* Ends a case: the wheel is sound and gives all memory back. */
static void end(void)
{
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
    CHECK(memory.blocks == 0);
    CHECK(memory.bytes == 0);
    CHECK(memory.strays == 0);
}

static int start(char name, uint64_t deadline)
{
    return tw_start(&tw, timer_of(name), deadline);
}

static int start_within(char name, uint64_t earliest, uint64_t latest)
{
    return tw_start_within(&tw, timer_of(name), earliest, latest);
}

static int postpone(char name, uint64_t deadline)
{
    return tw_postpone(&tw, timer_of(name), deadline);
}

static bool cancel(char name)
{
    return tw_cancel(&tw, timer_of(name));
}

static tw_state state_of(char name)
{
    return tw_timer_state(timer_of(name));
}

/* Makes the callback of `name` do something to `other`. */
static void when_fired(char name, void (*act)(probe *), char other,
                       uint64_t value)
{
    named(name)->act = act;
    named(name)->other = named(other);
    named(name)->value = value;
}

static bool log_is(const char *expected, const char *what, int line)
{
    if (strcmp(fired, expected) == 0)
        return true;
    printf("# line %d: %s fired \"%s\", not \"%s\"\n", line, what, fired,
           expected);
    return false;
}

static bool advance_fires(uint64_t now, size_t limit, const char *expected,
                          int line)
{
    clear_log();
    size_t count = tw_advance_clock_limit(&tw, now, limit);
    return log_is(expected, "the call", line) && count == fired_count &&
           tw_check(&tw);
}

static bool polls(uint64_t now, const char *expected, int line)
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
static uint64_t next(void)
{
    uint64_t deadline = 12345;
    CHECK(tw_next_deadline(&tw, &deadline) == (tw_count(&tw) != 0));
    return deadline;
}

static tw_stats stats(void)
{
    tw_stats s;
    tw_get_stats(&tw, &s);
    return s;
}

/* Everything that a refused call must leave as it was. */
typedef struct snapshot {
    timingwheel wheel;
    probe probes[26];
    heap memory;
} snapshot;

static snapshot before;

static void remember(void)
{
    before.wheel = tw;
    before.memory = memory;
    memcpy(before.probes, probes, sizeof probes);
}

/* True if nothing at all has changed, not even a private field; but notes that
 * would save the next start some work may be gone. */
static bool unchanged(void)
{
    timingwheel now;
    memcpy(&now, &tw, sizeof now);
    now.last_wheel = before.wheel.last_wheel;
    now.last_slot = before.wheel.last_slot;
    return memcmp(&before.wheel, &now, sizeof now) == 0 &&
           memcmp(before.probes, probes, sizeof probes) == 0 &&
           memory.calls == before.memory.calls &&
           memory.bytes == before.memory.bytes && tw_check(&tw);
}

static uint64_t random_state;

/* xorshift64: the same numbers everywhere. */
static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

/* ----------------------------------------------- what callbacks here can do */

static void act_start(probe *self)
{
    self->status = tw_start(&tw, &self->other->timer, self->value);
}

static void act_start_after(probe *self)
{
    uint64_t deadline = tw_after(tw_now(&tw), self->value);
    self->status = tw_start(&tw, &self->other->timer, deadline);
}

static void act_postpone(probe *self)
{
    self->status = tw_postpone(&tw, &self->other->timer, self->value);
}

static void act_note_next(probe *self)
{
    CHECK(tw_next_deadline(&tw, &self->value));
}

static void act_cancel(probe *self)
{
    self->status = tw_cancel(&tw, &self->other->timer);
}

static void act_drain(probe *self)
{
    self->status = (int)tw_drain(&tw, NULL, NULL);
}

static void act_advance(probe *self)
{
    self->status = (int)tw_advance_clock(&tw, self->value);
}

static void act_advance_limit(probe *self)
{
    self->status = (int)tw_advance_clock_limit(&tw, self->value, 5);
}

static void act_poll(probe *self)
{
    self->status = tw_poll(&tw, self->value) != NULL;
}

static void act_destroy(probe *self)
{
    (void)self;
    tw_destroy(&tw);
}

static void act_trim(probe *self)
{
    (void)self;
    tw_trim(&tw);
}

static void act_read_state(probe *self)
{
    self->status = (int)tw_timer_state(&self->other->timer);
}

static void act_count(probe *self)
{
    self->status = (int)tw_count(&tw);
}

/* ---------------------------------------------------- functions, one by one */

static void timer_size(void)
{
    CHECK(sizeof(tw_timer) <= 32);
    CHECK(sizeof(void *) != 8 || sizeof(tw_timer) == 24);
}

static void version(void)
{
#if TW_VERSION_MAJOR < 1 || TW_VERSION_MINOR < 0 || TW_VERSION_PATCH < 0
    CHECK(!"the version is no integer the preprocessor can compare");
#endif
    CHECK(TW_VERSION_MAJOR >= 1);
}

static void init_defaults(void)
{
    timingwheel wheel;
    tw_timer timers[20];
    CHECK(tw_init(&wheel, NULL) == TW_OK);
    CHECK(tw_now(&wheel) == 0);
    CHECK(tw_count(&wheel) == 0);
    for (uint64_t i = 0; i < 20; i++) {
        tw_timer_init(&timers[i], NULL);
        CHECK(tw_start(&wheel, &timers[i], i * i) == TW_OK); /* no limit */
    }
    CHECK(tw_advance_clock(&wheel, 100) == 11); /* a tick is one unit */
    CHECK(tw_check(&wheel));
    tw_destroy(&wheel);
    CHECK(heap_by_default.blocks == 0);
}

static void init_zero_config(void)
{
    set_up(0, 0, 0, 0);
    CHECK(start('a', 7) == TW_OK);
    FIRES(6, "");
    FIRES(7, "a"); /* so a tick is one unit */
    end();
}

static void init_start(void)
{
    begin_at(UINT64_C(123456789012345));
    CHECK(tw_now(&tw) == UINT64_C(123456789012345));
    CHECK(!tw_next_deadline(&tw, &(uint64_t){0}));
    FIRES(UINT64_C(123456789012345), "");
    end();
}

/* The clock that is then used lags behind `start`. */
static void init_start_ahead(void)
{
    begin_at(1000);
    CHECK(start('a', 30) == TW_OK); /* passed */
    CHECK(start('b', 1000) == TW_OK);
    CHECK(start('c', 1001) == TW_OK);
    CHECK(tw_wait(&tw, 0, 9999) == 0);
    FIRES(0, "ab");
    CHECK(tw_now(&tw) == 1000);
    CHECK(tw_wait(&tw, 0, 9999) == 1001);
    FIRES(1000, "");
    FIRES(1001, "c");
    end();
}

static void init_overwrites(void)
{
    memset(&tw, 0xa5, sizeof tw);
    begin();
    CHECK(start('a', 3) == TW_OK);
    FIRES(3, "a");
    end();
}

static void init_allocates_nothing(void)
{
    begin();
    CHECK(memory.calls == 0);
    CHECK(stats().bytes_held == 0);
    end();
    CHECK(memory.calls == 0);
}

static void init_wheel_sizes(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2) {
        set_up(1, 0, size, 0);
        CHECK(start('a', 1000000) == TW_OK);
        CHECK(start('b', 1) == TW_OK);
        FIRES(1000000, "ba");
        end();
    }
}

static void alloc_context_is_handed_on(void)
{
    begin();
    CHECK(start('a', 1000) == TW_OK);
    CHECK(memory.calls > 0); /* counted in the very heap that it was given */
    end();
}

static void destroy_makes_idle(void)
{
    begin();
    start('a', 0);
    start('b', 5);
    start('c', 5000000);
    tw_destroy(&tw);
    for (char name = 'a'; name <= 'c'; name++) {
        CHECK(state_of(name) == TW_IDLE);
        CHECK(!tw_is_pending(timer_of(name)));
    }
    CHECK(memory.blocks == 0);
}

static void destroy_twice(void)
{
    begin();
    start('a', 5);
    tw_destroy(&tw);
    tw_destroy(&tw);
    CHECK(memory.blocks == 0);
    CHECK(tw_count(&tw) == 0);
}

/* tw_reserve took memory that nobody would give back. */
static void destroyed_takes_nothing(void)
{
    begin();
    tw_destroy(&tw);
    CHECK(start('a', 5) == TW_EINVAL);
    CHECK(start_within('a', 5, 9) == TW_EINVAL);
    CHECK(tw_reserve(&tw, 5, 5) == TW_EINVAL);
    CHECK(memory.blocks == 0);
}

static void destroy_then_init(void)
{
    begin();
    start('a', 5);
    tw_destroy(&tw);
    begin_at(10);
    CHECK(start('a', 15) == TW_OK);
    FIRES(15, "a");
    end();
}

static void destroy_leaves_fired_and_cancelled(void)
{
    begin();
    start('a', 1);
    start('b', 2);
    FIRES(1, "a");
    cancel('b');
    tw_destroy(&tw);
    CHECK(state_of('a') == TW_FIRED);
    CHECK(state_of('b') == TW_CANCELLED);
}

static void timer_zero_is_idle(void)
{
    static const tw_timer zero;
    tw_timer timer = zero;
    begin();
    CHECK(tw_timer_state(&timer) == TW_IDLE);
    CHECK(!tw_is_pending(&timer));
    CHECK(tw_deadline(&timer) == 0);
    CHECK(!tw_cancel(&tw, &timer));
    CHECK(tw_start(&tw, &timer, 5) == TW_OK);
    CHECK(tw_poll(&tw, 5) == &timer);
    end();
}

static void timer_initialiser(void)
{
    begin();
    probe one = {TW_TIMER_INIT(on_fire), 'z', NULL, NULL, 0, 0};
    CHECK(tw_timer_state(&one.timer) == TW_IDLE);
    CHECK(tw_start(&tw, &one.timer, 5) == TW_OK);
    FIRES(5, "z");
    end();
}

/* The owner's other members are found, whichever is the timer's place. */
static void timer_owner(void)
{
    struct owner {
        char before[5];
        tw_timer first, second;
        int after;
    } owners[2];
    begin();
    for (int i = 0; i < 2; i++) {
        owners[i].after = i;
        tw_timer_init(&owners[i].first, NULL);
        tw_timer_init(&owners[i].second, NULL);
        CHECK(tw_start(&tw, &owners[i].second, 5 + (uint64_t)i) == TW_OK);
        CHECK(TW_OWNER(&owners[i].first, struct owner, first) == &owners[i]);
    }
    tw_timer *timer = tw_poll(&tw, 9);
    CHECK(TW_OWNER(timer, struct owner, second) == &owners[0]);
    CHECK(TW_OWNER(tw_poll(&tw, 9), struct owner, second)->after == 1);
    CHECK(tw_poll(&tw, 9) == NULL);
    end();
}

static void timer_init_again(void)
{
    begin();
    start('a', 5);
    FIRES(5, "a");
    tw_timer_init(timer_of('a'), on_fire);
    CHECK(state_of('a') == TW_IDLE);
    CHECK(tw_deadline(timer_of('a')) == 0);
    end();
}

static void states_in_turn(void)
{
    begin();
    CHECK(state_of('a') == TW_IDLE);
    start('a', 5);
    CHECK(state_of('a') == TW_PENDING);
    CHECK(tw_is_pending(timer_of('a')));
    cancel('a');
    CHECK(state_of('a') == TW_CANCELLED);
    CHECK(!tw_is_pending(timer_of('a')));
    start('a', 5);
    CHECK(state_of('a') == TW_PENDING);
    FIRES(5, "a");
    CHECK(state_of('a') == TW_FIRED);
    start('a', 9);
    tw_drain(&tw, NULL, NULL);
    CHECK(state_of('a') == TW_IDLE);
    end();
}

static void deadline_as_asked(void)
{
    set_up(10, 0, 0, 0);
    start('a', 13);
    CHECK(tw_deadline(timer_of('a')) == 13);
    FIRES(20, "a");
    CHECK(tw_deadline(timer_of('a')) == 13);
    start('a', UINT64_MAX);
    CHECK(tw_deadline(timer_of('a')) == UINT64_MAX);
    cancel('a');
    CHECK(tw_deadline(timer_of('a')) == UINT64_MAX);
    end();
}

static void deadline_in_callback(void)
{
    begin();
    start('a', 5);
    start('b', 9);
    when_fired('a', act_start, 'b', 7);
    FIRES(6, "a");
    CHECK(tw_deadline(timer_of('a')) == 5);
    CHECK(tw_deadline(timer_of('b')) == 7);
    end();
}

static void count_follows(void)
{
    begin();
    CHECK(tw_count(&tw) == 0);
    start('a', 5);
    start('b', 500);
    start('c', 0);
    CHECK(tw_count(&tw) == 3);
    start('a', 7);
    CHECK(tw_count(&tw) == 3);
    cancel('b');
    cancel('b');
    CHECK(tw_count(&tw) == 2);
    FIRES(1, "c");
    CHECK(tw_count(&tw) == 1);
    tw_drain(&tw, NULL, NULL);
    CHECK(tw_count(&tw) == 0);
    end();
}

static void cancel_answers(void)
{
    begin();
    CHECK(!cancel('a')); /* idle */
    start('a', 5);
    CHECK(cancel('a'));
    CHECK(!cancel('a')); /* cancelled */
    CHECK(state_of('a') == TW_CANCELLED);
    start('a', 5);
    FIRES(5, "a");
    CHECK(!cancel('a')); /* fired */
    CHECK(state_of('a') == TW_FIRED);
    end();
}

static void cancelled_never_fires(void)
{
    begin();
    start('a', 5);
    start('b', 5);
    start('c', 5);
    cancel('b');
    FIRES(100, "ac");
    end();
}

/* For each place of a bucket of twelve: cancel it, the rest fires in order. */
static void cancel_each_place(void)
{
    for (int hole = 0; hole < 12; hole++) {
        char expected[13] = "";
        begin();
        for (int i = 0; i < 12; i++) {
            char name[2] = {(char)('a' + i), '\0'};
            start(name[0], 300);
            if (i != hole)
                strcat(expected, name);
        }
        CHECK(cancel((char)('a' + hole)));
        CHECK(tw_check(&tw));
        FIRES(300, expected);
        end();
    }
}

static void cancel_all_but_one(void)
{
    for (int kept = 0; kept < 12; kept++) {
        char expected[2] = {(char)('a' + kept), '\0'};
        begin();
        for (char name = 'a'; name < 'a' + 12; name++)
            start(name, 300);
        for (char name = 'a'; name < 'a' + 12; name++)
            if (name != expected[0])
                CHECK(cancel(name));
        CHECK(tw_count(&tw) == 1);
        FIRES(300, expected);
        end();
    }
}

static void start_pending_moves(void)
{
    begin();
    start('a', 100);
    CHECK(start('a', 50) == TW_OK); /* earlier */
    CHECK(tw_count(&tw) == 1);
    CHECK(start('a', 50) == TW_OK);   /* the same */
    CHECK(start('a', 5000) == TW_OK); /* later */
    CHECK(tw_count(&tw) == 1);
    FIRES(4999, "");
    FIRES(5000, "a");
    FIRES(10000, "");
    end();
}

static void now_is_exact(void)
{
    set_up(10, 3, 0, 0);
    CHECK(tw_now(&tw) == 3);
    FIRES(27, "");
    CHECK(tw_now(&tw) == 27);
    FIRES(29, "");
    CHECK(tw_now(&tw) == 29);
    CHECK(tw_poll(&tw, 31) == NULL);
    CHECK(tw_now(&tw) == 31);
    end();
}

static void wheels_are_independent(void)
{
    begin();
    timingwheel second;
    tw_timer timer = TW_TIMER_INIT(NULL);
    tw_config config = {5, 1000, 8, 0, &memory};
    CHECK(tw_init(&second, &config) == TW_OK);
    start('a', 50);
    CHECK(tw_start(&second, &timer, 2000) == TW_OK);
    CHECK(tw_advance_clock(&second, 1999) == 0);
    CHECK(tw_now(&tw) == 0);
    FIRES(50, "a");
    CHECK(tw_now(&second) == 1999);
    CHECK(tw_advance_clock(&second, 2000) == 1);
    tw_destroy(&second);
    end();
}

static void strerror_sentences(void)
{
    static const int statuses[] = {TW_OK, TW_EINVAL, TW_ENOMEM, TW_EFULL,
                                   TW_EBUSY};
    for (int i = 0; i < 5; i++) {
        const char *text = tw_strerror(statuses[i]);
        CHECK(text[0] >= 'A' && text[strlen(text) - 1] == '.');
        CHECK(i == 0 || strlen(text) > 30); /* it says what to do */
        for (int j = 0; j < i; j++)
            CHECK(strcmp(text, tw_strerror(statuses[j])) != 0);
    }
}

static void strerror_unknown(void)
{
    static const int statuses[] = {1, -5, 42, INT_MAX, INT_MIN};
    for (int i = 0; i < 5; i++) {
        const char *text = tw_strerror(statuses[i]);
        CHECK(text != NULL && text[0] != '\0');
        CHECK(strcmp(text, tw_strerror(TW_OK)) != 0);
    }
}

static void status_values(void)
{
    CHECK(TW_OK == 0);
    CHECK(TW_EINVAL < 0 && TW_ENOMEM < 0 && TW_EFULL < 0 && TW_EBUSY < 0);
}

/* ---------------------------------------------------------------- promise 1 */

static void exact_tick_one(void)
{
    begin();
    start('a', 100);
    FIRES(99, "");
    FIRES(100, "a");
    FIRES(101, "");
    end();
}

static void rounded_up(void)
{
    set_up(10, 0, 0, 0);
    start('a', 11);
    FIRES(11, "");
    FIRES(19, "");
    FIRES(20, "a");
    end();
}

static void on_a_tick(void)
{
    set_up(10, 0, 0, 0);
    start('a', 20);
    FIRES(19, "");
    FIRES(20, "a");
    end();
}

static void clock_inside_a_tick(void)
{
    set_up(10, 25, 0, 0);
    start('a', 25); /* now is no tick: the next one is 30 */
    start('b', 20); /* has passed */
    FIRES(25, "b");
    FIRES(29, "");
    FIRES(30, "a");
    end();
}

static void deadline_is_the_clock(void)
{
    begin_at(77);
    start('a', 77);
    FIRES(77, "a");
    end();
}

static void every_phase_and_delay(void)
{
    static const uint64_t ticks[] = {1, 2, 3, 7, 10};
    for (int i = 0; i < 5; i++)
        for (uint64_t phase = 0; phase < ticks[i]; phase++)
            for (uint64_t delay = 1; delay <= 3 * ticks[i]; delay++) {
                uint64_t tick = ticks[i], from = 1000 * tick + phase;
                uint64_t due = (from + delay + tick - 1) / tick * tick;
                set_up(tick, from, 4, 0);
                start('a', from + delay);
                FIRES(due - 1, from < due ? "" : "a");
                FIRES(due, "a");
                end();
            }
}

static void big_ticks(void)
{
    static const uint64_t ticks[] = {1000,       65536,          1000000,
                                     1000000000, UINT64_MAX / 4, INT64_MAX};
    for (int i = 0; i < 6; i++) {
        set_up(ticks[i], 0, 0, 0);
        start('a', 1);
        start('b', ticks[i]);
        start('c', ticks[i] + 1);
        FIRES(ticks[i] - 1, "");
        FIRES(ticks[i], "ab");
        FIRES(2 * ticks[i] - 1, "");
        FIRES(2 * ticks[i], "c");
        end();
    }
}

/* A timer at `distance` from `from` fires exactly then, in one jump and with a
 * stop just before. */
static void check_distance(uint32_t size, uint64_t from, uint64_t distance)
{
    set_up(1, from, size, 0);
    start('a', from + distance);
    CHECK(next() == from + distance);
    FIRES(from + distance - 1, "");
    FIRES(from + distance, "a");
    end();
}

static void check_spans(uint32_t size, uint64_t from)
{
    uint64_t span = size;
    while (span < UINT64_C(1) << 48) {
        for (uint64_t d = span - 1; d <= span + 1; d++) {
            check_distance(size, from, d);
            check_distance(size, from, 2 * d - 1);
        }
        span *= size;
    }
}

static void around_every_span(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2) {
        check_spans(size, 0);
        check_spans(size, size - 1);
        check_spans(size, 1000003);
    }
}

static void each_tick_of_three_turns(void)
{
    for (uint64_t distance = 1; distance <= 3 * 16; distance++)
        for (uint64_t from = 0; from < 16; from++)
            check_distance(4, from, distance);
}

static void walked_tick_by_tick(void)
{
    set_up(1, 0, 4, 0);
    for (uint64_t now = 0; now < 26; now++)
        start((char)('a' + now), 4 * (now + 1));
    for (uint64_t now = 1; now <= 4 * 26; now++) {
        char expected[2] = {(char)('a' + now / 4 - 1), '\0'};
        FIRES(now, now % 4 == 0 ? expected : "");
    }
    end();
}

static void fires_once(void)
{
    begin();
    start('a', 1000);
    FIRES(2000, "a");
    FIRES(2000, "");
    FIRES(1000, "");
    FIRES(UINT64_MAX, "");
    end();
}

static void never_early_random(void)
{
    random_state = 20250101;
    for (int run = 0; run < 500; run++) {
        uint64_t tick = 1 + random_below(1000);
        uint64_t from = random_below(UINT64_C(1) << (1 + random_below(62)));
        set_up(tick, from, UINT32_C(2) << random_below(8), 0);
        uint64_t deadline =
            from + random_below(UINT64_C(1) << (1 + random_below(62)));
        start('a', deadline);
        uint64_t due = deadline / tick + (deadline % tick != 0);
        if (due > from / tick) {
            FIRES(due * tick - 1, "");
            FIRES(due * tick, "a");
        } else {
            FIRES(0, "a");
        }
        end();
    }
}

/* ---------------------------------------------------------------- promise 2 */

static void empty_jumps(void)
{
    begin();
    for (uint64_t i = 1; i <= 100000; i++)
        CHECK(tw_advance_clock(&tw, i << 46) == 0);
    CHECK(memory.calls == 0);
    end();
}

static void jump_of_two_to_63(void)
{
    begin();
    FIRES(UINT64_C(1) << 63, "");
    CHECK(tw_now(&tw) == UINT64_C(1) << 63);
    FIRES(UINT64_MAX, "");
    CHECK(tw_now(&tw) == UINT64_MAX);
    end();
}

static void quiet_span_moves_nothing(void)
{
    begin();
    start('a', UINT64_C(1) << 62);
    start('b', (UINT64_C(1) << 62) + 1);
    size_t calls = memory.calls;
    for (uint64_t i = 1; i < 1000; i++)
        CHECK(tw_advance_clock(&tw, i << 51) == 0);
    CHECK(stats().cascaded == 0);
    CHECK(memory.calls == calls);
    FIRES((UINT64_C(1) << 62) + 1, "ab");
    end();
}

static void lone_far_timer(void)
{
    begin();
    start('a', UINT64_C(3600) * 1000000000);
    CHECK(next() == UINT64_C(3600) * 1000000000);
    FIRES(next(), "a"); /* one wake-up, and none on the way */
    CHECK(stats().cascaded == 0);
    end();
}

static void short_after_idle(void)
{
    begin();
    FIRES(1000000, "");
    start('a', 1000005);
    CHECK(stats().wheels == 1); /* placed by its distance from the new clock */
    FIRES(1000005, "a");
    CHECK(stats().cascaded == 0);
    end();
}

/* ---------------------------------------------------------------- promise 3 */

static void callback_clock(void)
{
    begin();
    start('a', 10);
    start('b', 300);
    start('c', 70000);
    FIRES(100000, "abc");
    CHECK(fired_at[0] == 10 && fired_at[1] == 300 && fired_at[2] == 70000);
    CHECK(tw_now(&tw) == 100000);
    end();
}

static void callback_clock_on_ticks(void)
{
    set_up(10, 4, 0, 0);
    start('a', 11);
    start('b', 30);
    FIRES(35, "ab");
    CHECK(fired_at[0] == 20 && fired_at[1] == 30);
    CHECK(tw_now(&tw) == 35);
    end();
}

static void started_up_to_target(void)
{
    begin();
    start('a', 10);
    start('b', 20);
    start('d', 40);
    when_fired('b', act_start, 'c', 30);
    FIRES(50, "abcd");
    CHECK(fired_at[2] == 30);
    end();
}

static void started_at_target(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start, 'b', 50);
    FIRES(50, "ab");
    end();
}

static void started_beyond_target(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start, 'b', 51);
    FIRES(50, "a");
    FIRES(51, "b");
    end();
}

static void started_behind_its_equals(void)
{
    begin();
    start('a', 10);
    start('b', 20);
    start('c', 20);
    when_fired('a', act_start, 'd', 20);
    FIRES(20, "abcd");
    end();
}

/* A callback starts a timer for the tick that is firing, while another bucket
 * of that tick, in a finer wheel, is still to come: it is not for this call. */
static void started_beside_its_equals(void)
{
    begin();
    start('a', 300);
    FIRES(100, "");
    start('b', 300);
    start('d', 310);
    when_fired('a', act_start, 'c', 300);
    FIRES(1000, "abd");
    FIRES(1000, "c");
    end();
}

static void started_in_a_far_wheel(void)
{
    begin();
    start('a', 10);
    start('z', 200000);
    when_fired('a', act_start, 'b', 100000);
    FIRES(150000, "ab");
    FIRES(200000, "z");
    end();
}

static void chain_within_one_call(void)
{
    begin();
    start('a', 1);
    when_fired('a', act_start_after, 'a', 1);
    clear_log();
    CHECK(tw_advance_clock(&tw, 1000) == 1000);
    for (size_t i = 0; i < 1000; i++)
        CHECK(fired_at[i] == i + 1);
    CHECK(next() == 1001);
    end();
}

static void chain_with_big_steps(void)
{
    begin();
    start('a', 1);
    when_fired('a', act_start_after, 'a', 999);
    clear_log();
    CHECK(tw_advance_clock(&tw, 999000) == 1000);
    CHECK(fired_at[999] == 1 + 999 * 999);
    end();
}

/* ---------------------------------------------------------------- promise 4 */

static void after_adds(void)
{
    CHECK(tw_after(0, 0) == 0);
    CHECK(tw_after(100, 23) == 123);
    CHECK(tw_after(0, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX, 0) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX - 5, 5) == UINT64_MAX);
}

static void after_saturates(void)
{
    CHECK(tw_after(1, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX, 1) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_after(UINT64_C(1) << 63, UINT64_C(1) << 63) == UINT64_MAX);
}

static void delay_from_a_stale_clock(void)
{
    begin();
    /* The wheel's clock still reads 0 when the user's reads 1000. */
    start('a', tw_after(1000, 5));
    FIRES(1004, "");
    FIRES(1005, "a");
    end();
}

/* Why a delay is not added to tw_now: that is still as before the sleep. */
static void delay_from_before_the_sleep(void)
{
    begin();
    FIRES(1000, "");
    CHECK(tw_now(&tw) == 1000); /* and 60,000 later the loop wakes */
    start('a', tw_after(tw_now(&tw), 30000));
    start('b', tw_after(61000, 30000));
    FIRES(61000, "a"); /* at once */
    FIRES(90999, "");
    FIRES(91000, "b");
    end();
}

static void endless_delay_stays(void)
{
    begin_at(1000);
    start('a', tw_after(1000, UINT64_MAX));
    FIRES(UINT64_MAX - 1, "");
    FIRES(UINT64_MAX, "a");
    end();
}

/* ---------------------------------------------------------------- promise 5 */

static void overdue_fires_next(void)
{
    static const uint64_t arguments[] = {0, 1, 999, 1000, 1001, UINT64_MAX};
    for (int i = 0; i < 6; i++) {
        begin_at(1000);
        CHECK(start('a', 10) == TW_OK);
        CHECK(tw_is_pending(timer_of('a')));
        FIRES(arguments[i], "a");
        CHECK(tw_now(&tw) == (arguments[i] > 1000 ? arguments[i] : 1000));
        end();
    }
}

static void overdue_clock_is_unmoved(void)
{
    begin_at(1000);
    start('a', 10);
    FIRES(5000, "a");
    CHECK(fired_at[0] == 1000);
    end();
}

static void overdue_moves_no_clock(void)
{
    begin_at(1000);
    start('a', 999);
    start('b', 0);
    CHECK(tw_now(&tw) == 1000);
    start('c', 1003);
    FIRES(1000, "ab");
    FIRES(1002, "");
    FIRES(1003, "c");
    end();
}

static void overdue_from_callback(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start, 'b', 5);
    FIRES(100, "a");
    FIRES(0, "b");
    end();
}

static void overdue_at_the_callbacks_clock(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start, 'b', 10);
    FIRES(100, "a");
    CHECK(tw_is_pending(timer_of('b')));
    FIRES(100, "b");
    end();
}

static void rearmed_for_now(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start_after, 'a', 0);
    for (int i = 0; i < 5; i++)
        FIRES(100, "a"); /* once each, however often it is started */
    CHECK(tw_count(&tw) == 1);
    end();
}

static void act_again_thrice(probe *self)
{
    if (self->value-- != 0)
        self->status = tw_start(&tw, &self->timer, tw_now(&tw));
}

/* A callback that starts its timer for now, three times. */
static void until_nothing_fires(void)
{
    begin();
    start('a', 10);
    start('b', 20);
    when_fired('a', act_again_thrice, 'a', 3);
    clear_log();
    while (tw_advance_clock(&tw, 20) != 0)
        CHECK(tw_now(&tw) == 20);
    CHECK(strcmp(fired, "abaaa") == 0);
    end();
    begin();
    start('a', 10);
    unsigned polled = 0;
    while (tw_poll(&tw, 20) == timer_of('a') && polled < 9)
        if (polled++ < 3)
            start('a', tw_now(&tw));
    CHECK(polled == 4);
    end();
}

static void overdue_from_an_overdue_callback(void)
{
    begin_at(50);
    start('a', 1);
    when_fired('a', act_start, 'b', 2);
    when_fired('b', act_start, 'c', 60);
    FIRES(100, "a");
    FIRES(100, "b");
    FIRES(100, "c");
    end();
}

static void overdue_cancelled(void)
{
    begin_at(50);
    start('a', 1);
    start('b', 1);
    CHECK(cancel('a'));
    FIRES(50, "b");
    end();
}

static void overdue_postponed(void)
{
    begin_at(50);
    start('a', 1);
    CHECK(postpone('a', 70) == TW_OK);
    FIRES(50, "");
    FIRES(69, "");
    FIRES(70, "a");
    end();
}

/* To postpone an overdue timer is to start it: it goes behind all others. To
 * the very same deadline nothing changes. */
static void overdue_postponed_is_started(void)
{
    begin_at(100);
    CHECK(start('a', 90) == TW_OK);
    CHECK(start('b', 99) == TW_OK);
    CHECK(start('c', 10) == TW_OK);
    CHECK(postpone('b', 99) == TW_OK);
    CHECK(postpone('a', 95) == TW_OK);
    FIRES(102, "bca");
    end();
}

static void start_overdue_and_postpone(probe *self)
{
    self->status = tw_start(&tw, &self->other->timer, 5);
    CHECK(tw_postpone(&tw, &self->other->timer, self->value) == TW_OK);
}

/* It waited for the next call even if its new deadline was in this one. */
static void deferred_and_postponed(void)
{
    begin();
    start('a', 10);
    start('c', 17);
    start('z', UINT64_MAX - 1);
    when_fired('a', start_overdue_and_postpone, 'b', 15);
    when_fired('b', act_start, 'd', 3);
    FIRES(UINT64_MAX, "abcz");
    FIRES(UINT64_MAX, "d");
    end();
    set_up(10, 0, 0, 0);
    start('a', 1000);
    when_fired('a', start_overdue_and_postpone, 'b', 1091);
    FIRES(2000, "ab");
    CHECK(fired_at[1] == 1100);
    end();
}

/* With nothing more to do in a limited call, the clock passed its tick. */
static void deferred_and_postponed_at_limit(void)
{
    begin_at(42);
    start('a', 46);
    when_fired('a', start_overdue_and_postpone, 'a', 47);
    CHECK(tw_advance_clock_limit(&tw, 49, 1) == 1);
    CHECK(tw_now(&tw) == 46);
    named('a')->act = NULL;
    clear_log();
    CHECK(tw_advance_clock_limit(&tw, 49, 9) == 1);
    CHECK(fired_at[0] == 47);
    end();
}

/* What callbacks had started overdue came behind what was started after the
 * call, although it was started first. */
static void start_other(probe *self)
{
    self->status = tw_start(&tw, &self->other->timer, self->value);
}

static void deferred_comes_first(void)
{
    begin_at(100);
    start('a', 110);
    when_fired('a', start_other, 'b', 50);
    FIRES(110, "a");
    start('c', 50);
    FIRES(110, "bc");
    end();
}

static void overdue_started_again(void)
{
    begin_at(50);
    start('a', 1);
    CHECK(start('a', 70) == TW_OK);
    FIRES(69, "");
    FIRES(70, "a");
    end();
}

static void overdue_from_callback_cancelled(void)
{
    begin();
    start('a', 10);
    start('c', 12);
    when_fired('a', act_start, 'b', 5);
    when_fired('c', act_cancel, 'b', 0);
    FIRES(20, "ac");
    CHECK(named('c')->status == 1);
    FIRES(20, "");
    end();
}

static void overdue_every_tick(void)
{
    set_up(10, 105, 0, 0);
    start('a', 100); /* the clock's own tick began at 100 */
    start('b', 101); /* and this one is due at 110 */
    FIRES(105, "a");
    FIRES(109, "");
    FIRES(110, "b");
    end();
}

/* ---------------------------------------------------------------- promise 6 */

static void backwards_fires_nothing(void)
{
    begin_at(1000);
    start('a', 1001);
    for (uint64_t now = 0; now < 1000; now += 37)
        FIRES(now, "");
    CHECK(tw_now(&tw) == 1000);
    FIRES(1001, "a");
    end();
}

static void backwards_fires_what_is_owed(void)
{
    begin_at(1000);
    start('a', 5);
    start('b', 1001);
    FIRES(4, "a");
    CHECK(tw_now(&tw) == 1000);
    end();
}

static void backwards_by_half_of_time(void)
{
    begin_at(UINT64_MAX);
    FIRES(UINT64_MAX >> 1, "");
    FIRES(0, "");
    CHECK(tw_now(&tw) == UINT64_MAX);
    end();
}

static void backwards_after_a_jump(void)
{
    begin();
    start('a', 300);
    FIRES(299, "");
    FIRES(100, "");
    start('b', 298); /* passed, though the user's clock says 100 */
    FIRES(100, "b");
    FIRES(300, "a");
    end();
}

static void backwards_within_a_tick(void)
{
    set_up(10, 0, 0, 0);
    FIRES(57, "");
    FIRES(53, "");
    CHECK(tw_now(&tw) == 57);
    start('a', 55);
    FIRES(59, "");
    FIRES(60, "a");
    end();
}

static void backwards_wait(void)
{
    begin_at(1000);
    start('a', 1050);
    CHECK(tw_wait(&tw, 900, 500) == 150); /* by the caller's own clock */
    end();
}

/* ---------------------------------------------------------------- promise 7 */

static const uint64_t starts[] = {
    0,
    1,
    255,
    256,
    UINT64_C(0x7fffffff),
    UINT64_C(0x80000000),
    UINT64_C(0xffffffff),
    UINT64_C(0x100000000),
    UINT64_C(0x7ffffffffffffffe),
    UINT64_C(0x7fffffffffffffff),
    UINT64_C(0x8000000000000000),
    UINT64_C(0xffffffff00000000),
    UINT64_C(0xffffffffffffff00),
    UINT64_C(0xfffffffffffffffe),
};

#define STARTS (sizeof starts / sizeof *starts)

static void from_every_start(void)
{
    for (size_t i = 0; i < STARTS; i++)
        for (unsigned bit = 0; bit < 64; bit++) {
            uint64_t delay = UINT64_C(1) << bit;
            if (delay > UINT64_MAX - starts[i])
                continue;
            begin_at(starts[i]);
            start('a', starts[i] + delay);
            CHECK(next() == starts[i] + delay);
            FIRES(starts[i] + delay - 1, "");
            FIRES(starts[i] + delay, "a");
            end();
        }
}

static void the_last_moment(void)
{
    for (size_t i = 0; i < STARTS; i++) {
        begin_at(starts[i]);
        start('a', UINT64_MAX);
        start('b', UINT64_MAX);
        FIRES(UINT64_MAX - 1, "");
        FIRES(UINT64_MAX, "ab");
        end();
    }
}

static void at_the_end_of_time(void)
{
    begin_at(UINT64_MAX);
    CHECK(start('a', UINT64_MAX) == TW_OK);
    CHECK(start('b', 0) == TW_OK);
    CHECK(tw_wait(&tw, UINT64_MAX, 100) == 0);
    FIRES(UINT64_MAX, "ab");
    CHECK(tw_now(&tw) == UINT64_MAX);
    end();
}

/* Timers at 2^63, 2^62, ...: one jump fires the earliest last started first. */
static void every_power_of_two(void)
{
    static tw_timer timers[64];
    static const tw_timer idle;
    begin();
    for (unsigned bit = 64; bit-- > 0;) {
        timers[bit] = idle;
        CHECK(tw_start(&tw, &timers[bit], UINT64_C(1) << bit) == TW_OK);
        CHECK(next() == UINT64_C(1) << bit);
    }
    for (unsigned bit = 0; bit < 64; bit++)
        CHECK(tw_poll(&tw, UINT64_MAX) == &timers[bit]);
    CHECK(tw_poll(&tw, UINT64_MAX) == NULL);
    end();
}

static void smallest_wheels_reach_everything(void)
{
    set_up(1, 0, 2, 0);
    start('a', UINT64_MAX);
    start('b', UINT64_C(1) << 63);
    start('c', UINT64_MAX - 1);
    start('d', 1);
    FIRES(UINT64_C(1) << 63, "db");
    FIRES(UINT64_MAX - 1, "c");
    FIRES(UINT64_MAX, "a");
    end();
}

static void unreachable_tick(void)
{
    set_up(10, 0, 0, 0); /* 2^64 - 1 ends in 5 */
    start('a', UINT64_MAX);
    start('b', UINT64_MAX - 5);
    start('c', UINT64_MAX - 4);
    CHECK(next() == UINT64_MAX - 5);
    FIRES(UINT64_MAX, "b");
    CHECK(tw_count(&tw) == 2);
    FIRES(UINT64_MAX, "");
    CHECK(state_of('a') == TW_PENDING);
    end();
}

/* True if nothing that is pending wakes the loop. */
static bool wakes_nobody(void)
{
    uint64_t deadline = 12345;
    return !tw_next_deadline(&tw, &deadline) && deadline == 12345 &&
           tw_wait(&tw, tw_now(&tw), 50) == 50 &&
           tw_wait(&tw, UINT64_MAX, UINT64_MAX) == UINT64_MAX;
}

/* The loop of the manual's synopsis, with at most 10 turns. */
static int turns_until_asleep(void)
{
    uint64_t now;
    int turns = 0;
    for (; turns < 10 && tw_next_deadline(&tw, &now); turns++)
        tw_advance_clock(&tw, now);
    return turns;
}

/* Other timers wake the loop as ever: one that is due, one that is overdue, and
 * one that was postponed to a tick out of reach, once. */
static void unreachable_wakes_nobody(void)
{
    set_up(10, 0, 0, 0);
    start('a', tw_after(1000, UINT64_MAX)); /* saturates */
    CHECK(tw_count(&tw) == 1 && wakes_nobody());
    CHECK(turns_until_asleep() == 0);
    start('b', 25);
    CHECK(next() == 30);
    CHECK(turns_until_asleep() == 1 && state_of('b') == TW_FIRED);
    start('b', 3);
    CHECK(next() <= tw_now(&tw) && tw_wait(&tw, 30, 50) == 0);
    CHECK(turns_until_asleep() == 1 && state_of('b') == TW_FIRED);
    start('b', 45);
    CHECK(postpone('b', UINT64_MAX - 1) == TW_OK);
    CHECK(turns_until_asleep() == 1 && wakes_nobody());
    CHECK(state_of('a') == TW_PENDING && state_of('b') == TW_PENDING);
    CHECK(tw_cancel(&tw, timer_of('a')) && wakes_nobody());
    FIRES(UINT64_MAX, "");
    CHECK(state_of('b') == TW_PENDING && wakes_nobody());
    end();
}

static void unreachable_wait(void)
{
    set_up(10, UINT64_MAX - 100, 0, 0);
    start('a', UINT64_MAX);
    CHECK(tw_wait(&tw, UINT64_MAX - 100, 50) == 50);
    FIRES(UINT64_MAX, "");
    CHECK(tw_wait(&tw, UINT64_MAX, 50) > 0); /* no reason to spin */
    end();
}

static void unreachable_can_be_taken_out(void)
{
    set_up(10, 0, 0, 0);
    start('a', UINT64_MAX);
    start('b', UINT64_MAX);
    start('c', UINT64_MAX);
    CHECK(cancel('a'));
    CHECK(start('b', 50) == TW_OK);
    FIRES(UINT64_MAX, "b");
    CHECK(tw_drain(&tw, NULL, NULL) == 1);
    CHECK(state_of('c') == TW_IDLE);
    end();
}

static void ticks_that_do_not_divide(void)
{
    static const uint64_t ticks[] = {3, 7, 10, 1000, 999983, INT64_MAX};
    for (int i = 0; i < 6; i++) {
        uint64_t last = UINT64_MAX / ticks[i] * ticks[i];
        set_up(ticks[i], UINT64_MAX - UINT64_MAX / 3, 0, 0);
        start('a', last);
        start('b', last - 1);
        FIRES(last - 1, "");
        FIRES(last, "ab");
        start('c', last < UINT64_MAX ? last + 1 : last);
        FIRES(UINT64_MAX, last < UINT64_MAX ? "" : "c");
        end();
    }
}

static void tick_of_three(void)
{
    set_up(INT64_MAX, 0, 0, 0);
    start('a', 1);
    start('b', UINT64_C(0xfffffffffffffffe));
    start('c', UINT64_MAX); /* its tick is the third: beyond 64 bits */
    FIRES(UINT64_C(0x7ffffffffffffffe), "");
    FIRES(UINT64_C(0x7fffffffffffffff), "a");
    FIRES(UINT64_C(0xfffffffffffffffd), "");
    FIRES(UINT64_MAX, "b");
    CHECK(tw_count(&tw) == 1);
    end();
}

/* The clock reaches two ticks, 0 and 1. */
static void longest_ticks(void)
{
    static const uint64_t ticks[] = {UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1,
                                     UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        uint64_t deadline = 0;
        set_up(ticks[i], 0, 0, 0);
        start('a', 1);
        start('b', ticks[i]);
        if (ticks[i] != UINT64_MAX)
            start('c', UINT64_MAX);
        FIRES(ticks[i] - 1, "");
        CHECK(tw_next_deadline(&tw, &deadline) && deadline == ticks[i]);
        CHECK(tw_wait(&tw, 7, UINT64_MAX) == ticks[i] - 7);
        FIRES(ticks[i], "ab");
        FIRES(UINT64_MAX, "");
        CHECK(tw_count(&tw) == (ticks[i] != UINT64_MAX));
        end();
        set_up(ticks[i], UINT64_MAX, 0, 0);
        start('a', 1);
        FIRES(0, "a");
        end();
    }
}

static void one_jump_over_all_of_time(void)
{
    begin();
    random_state = 7;
    for (int i = 0; i < 26; i++)
        start((char)('a' + i), random_below(UINT64_MAX));
    clear_log();
    CHECK(tw_advance_clock(&tw, UINT64_MAX) == 26);
    for (size_t i = 1; i < fired_count; i++)
        CHECK(fired_at[i - 1] <= fired_at[i]);
    end();
}

/* ---------------------------------------------------------------- promise 8 */

static void start_order_in_a_tick(void)
{
    begin();
    for (char name = 'z'; name >= 'a'; name--)
        start(name, 700);
    FIRES(700, "zyxwvutsrqponmlkjihgfedcba");
    end();
}

static void tick_order_before_deadlines(void)
{
    set_up(10, 0, 0, 0);
    start('a', 19);
    start('b', 11); /* the same tick, though an earlier deadline */
    start('c', 10);
    FIRES(20, "cab");
    end();
}

/* Six of one bucket of the second wheel, of three ticks, started in no order;
 * d is cancelled before or after the first of them has fired, or not at all. */
static void order_within_a_bucket(void)
{
    for (int moment = 0; moment < 3; moment++) {
        set_up(10, 0, 0, 0);
        start('d', 3019);
        start('a', 3009);
        start('e', 3011);
        start('f', 3100);
        start('b', 3001);
        start('c', 3010);
        if (moment == 1)
            cancel('d');
        FIRES(3009, "");
        FIRES_AT_MOST(1, 3010, "a");
        if (moment == 2)
            cancel('d');
        FIRES(3010, "bc");
        FIRES(3020, moment == 0 ? "de" : "e");
        CHECK(next() == 3100);
        FIRES(3100, "f");
        end();
    }
}

/* a is started far from its deadline and b near it, in a finer wheel. */
static void order_across_wheels(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2)
        for (uint64_t d = 1; d < 3 * size; d += 1 + d / 7) {
            uint64_t deadline = UINT64_C(1) * size * size + d;
            set_up(1, 0, size, 0);
            start('a', deadline);
            FIRES(deadline - d, "");
            start('b', deadline);
            FIRES(deadline - 1, "");
            start('c', deadline);
            FIRES(deadline, "abc");
            end();
        }
}

static void order_across_four_wheels(void)
{
    static const uint64_t stops[] = {1, 900, 990, 1000, 1015, 1020, 1022, 1023};
    set_up(1, 0, 4, 0);
    start('a', 1024);
    for (int i = 0; i < 8; i++) {
        FIRES(stops[i], "");
        start((char)('b' + i), 1024);
        start((char)('m' + i), 1000000); /* keeps coarse buckets busy */
    }
    FIRES(1024, "abcdefghi");
    FIRES(1000000, "mnopqrst");
    end();
}

static void order_when_cascading_past_others(void)
{
    set_up(1, 0, 4, 0);
    start('a', 100);
    start('b', 101);
    start('c', 100);
    FIRES(90, "");
    start('d', 101);
    start('e', 100);
    start('f', 99);
    FIRES(99, "f");
    start('g', 101);
    start('h', 100);
    FIRES(101, "acehbdg");
    end();
}

static void started_again_counts_as_now(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('a', 10);
    FIRES(10, "ba");
    end();
}

static void overdue_in_start_order(void)
{
    begin_at(50);
    start('b', 5);
    start('a', 3);
    start('c', 5);
    start('d', 4);
    start('e', 40);
    FIRES(50, "bacde");
    end();
}

/* The clock has come to 10, where a limit has left b, which fires before what
 * is started overdue since: c, of the same tick, and d. */
static void overdue_beside_what_is_left(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    FIRES_AT_MOST(1, 10, "a");
    start('c', 10);
    start('d', 5);
    FIRES(10, "bcd");
    end();
}

static void overdue_before_due(void)
{
    begin_at(50);
    start('c', 51);
    start('b', 50);
    start('a', 2);
    FIRES(60, "bac");
    end();
}

/* What a callback postpones that is owed by this call is owed by the next. */
static void overdue_postponed_by_another(void)
{
    begin_at(100);
    start('a', 50);
    start('b', 60);
    start('c', 65);
    when_fired('a', act_postpone, 'b', 99);
    when_fired('c', act_postpone, 'd', 105);
    start('d', 70);
    FIRES(104, "ac");
    FIRES(104, "b");
    FIRES(105, "d");
    end();
}

static void overdue_from_two_calls(void)
{
    begin();
    start('a', 10);
    start('b', 20);
    when_fired('a', act_start, 'x', 9);
    when_fired('b', act_start, 'y', 8);
    FIRES(30, "ab");
    start('z', 7);
    FIRES(30, "xyz");
    end();
}

/* Many timers in one tick, started over a while: a counter is their order. */
typedef struct ticket {
    tw_timer timer;
    size_t number;
} ticket;

#define TICKETS 3000

static ticket tickets[TICKETS];
static const ticket *last_ticket;
static size_t misplaced;

static void on_ticket(timingwheel *wheel, tw_timer *timer)
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

static void deal_tickets(uint64_t span)
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

static void order_of_many(void)
{
    random_state = 99;
    for (uint32_t size = 2; size <= 4096; size *= 4) {
        set_up(1, 0, size, 0);
        deal_tickets(700);
        CHECK(tw_advance_clock(&tw, 700) == TICKETS);
        CHECK(misplaced == 0);
        end();
    }
}

/* From some to thousands in one bucket, spread evenly over its ticks or most of
 * them in the same one. */
static void order_of_many_in_a_bucket(void)
{
    random_state = 8;
    for (size_t count = 20; count <= TICKETS; count += count / 4)
        for (uint64_t of_one = 0; of_one < 4; of_one++) {
            begin();
            last_ticket = NULL;
            misplaced = 0;
            for (size_t i = 0; i < count; i++) {
                bool is_one = random_below(4) < of_one;
                uint64_t tick = 512 + (is_one ? 100 : random_below(256));
                tw_timer_init(&tickets[i].timer, on_ticket);
                tickets[i].number = i;
                CHECK(tw_start(&tw, &tickets[i].timer, tick) == TW_OK);
            }
            CHECK(tw_advance_clock(&tw, 767) == count);
            CHECK(misplaced == 0);
            end();
        }
}

/* The clock moves on while they are started, so that those of one tick wait in
 * different wheels. */
static void order_of_many_while_moving(void)
{
    random_state = 95;
    for (uint32_t size = 2; size <= 4096; size *= 2) {
        set_up(1, 0, size, 0);
        last_ticket = NULL;
        misplaced = 0;
        for (size_t i = 0; i < TICKETS; i++) {
            uint64_t distance = UINT64_C(1) << random_below(11);
            tw_timer_init(&tickets[i].timer, on_ticket);
            tickets[i].number = i;
            tw_start(&tw, &tickets[i].timer,
                     (tw_now(&tw) + distance) | UINT64_C(31));
            if (i % 8 == 0)
                tw_advance_clock(&tw, tw_now(&tw) + random_below(12));
        }
        while (tw_count(&tw) != 0)
            tw_advance_clock(&tw, next());
        CHECK(stats().fired == TICKETS);
        CHECK(misplaced == 0);
        end();
    }
}

static void order_of_many_by_limit(void)
{
    random_state = 98;
    for (size_t limit = 1; limit < 20; limit += 3) {
        set_up(1, 0, 8, 0);
        deal_tickets(900);
        while (tw_count(&tw) != 0)
            tw_advance_clock_limit(&tw, 900, limit);
        CHECK(misplaced == 0);
        end();
    }
}

static void order_of_many_with_holes(void)
{
    random_state = 97;
    set_up(1, 0, 16, 0);
    deal_tickets(5000);
    for (size_t i = 0; i < TICKETS; i += 3)
        CHECK(tw_cancel(&tw, &tickets[i].timer));
    for (uint64_t now = 0; now <= 5000; now += 1 + random_below(40))
        tw_advance_clock(&tw, now);
    tw_advance_clock(&tw, 5000);
    CHECK(tw_count(&tw) == 0);
    CHECK(misplaced == 0);
    end();
}

static void order_of_many_overdue(void)
{
    random_state = 96;
    begin_at(10000);
    deal_tickets(100);
    for (size_t i = 0; i < TICKETS; i++)
        CHECK(tw_poll(&tw, 0) == &tickets[i].timer);
    end();
}

/* ---------------------------------------------------------------- promise 9 */

static void next_of_nothing(void)
{
    uint64_t deadline = 42;
    begin();
    CHECK(!tw_next_deadline(&tw, &deadline));
    CHECK(deadline == 42); /* left alone */
    start('a', 5);
    CHECK(tw_next_deadline(&tw, &deadline));
    CHECK(deadline == 5);
    cancel('a');
    deadline = 42;
    CHECK(!tw_next_deadline(&tw, &deadline));
    CHECK(deadline == 42);
    end();
}

static void next_follows_starts(void)
{
    begin();
    start('a', 100000);
    CHECK(next() == 100000);
    start('b', 200000);
    CHECK(next() == 100000);
    start('c', 99999);
    CHECK(next() == 99999);
    start('d', 300);
    CHECK(next() == 300);
    start('e', 3);
    CHECK(next() == 3);
    start('f', 0);
    CHECK(next() == 0);
    end();
}

static void next_follows_firing(void)
{
    begin();
    start('a', 3);
    start('b', 300);
    start('c', 301);
    start('d', 70000);
    start('e', 70001);
    FIRES(next(), "a");
    CHECK(next() == 300);
    FIRES(next(), "b");
    CHECK(next() == 301);
    FIRES(next(), "c");
    CHECK(next() == 70000);
    FIRES(next(), "d");
    CHECK(next() == 70001);
    FIRES(next(), "e");
    CHECK(next() == 12345); /* none */
    end();
}

static void next_is_rounded(void)
{
    set_up(10, 0, 0, 0);
    start('a', 11);
    CHECK(next() == 20);
    start('b', 10);
    CHECK(next() == 10);
    end();
}

static void next_of_overdue(void)
{
    begin_at(100);
    start('b', 200);
    start('a', 7);
    CHECK(next() == 7);
    CHECK(tw_wait(&tw, 100, 50) == 0);
    FIRES(0, "a");
    CHECK(next() == 200);
    end();
}

/* It is not after the clock while a poll, a limit or a callback leaves one. */
static void next_of_overdue_left(void)
{
    begin_at(100);
    start('a', 50);
    start('b', 60);
    CHECK(tw_poll(&tw, 100) == timer_of('a'));
    CHECK(next() <= 100);
    start('c', 55);
    FIRES_AT_MOST(1, 100, "b");
    CHECK(next() <= 100);
    start('a', 70);
    start('d', 130);
    when_fired('c', act_note_next, 'c', 0);
    when_fired('a', act_note_next, 'a', 0);
    FIRES(100, "ca");
    CHECK(named('c')->value <= 100);
    CHECK(next() == 130);
    end();
}

static void next_hides_nothing(void)
{
    begin();
    start('b', 400); /* in a coarse wheel */
    FIRES(200, "");
    start('c', 410); /* in the finest wheel, later than the one in a coarser */
    CHECK(next() == 400);
    FIRES(399, "");
    FIRES(400, "b");
    CHECK(next() == 410);
    end();
}

static void stale_after_cancel(void)
{
    begin();
    start('a', 1000);
    start('b', 1001); /* the same bucket of the second wheel */
    cancel('a');
    CHECK(next() <= 1001);
    if (next() < 1001)
        FIRES(next(), ""); /* one call for nothing */
    CHECK(next() == 1001); /* and never again */
    FIRES(1001, "b");
    end();
}

static void stale_after_postpone(void)
{
    begin();
    start('a', 1000);
    postpone('a', 9000);
    CHECK(next() <= 9000);
    if (next() < 9000)
        FIRES(next(), "");
    CHECK(next() == 9000);
    FIRES(9000, "a");
    end();
}

static void stale_after_restart(void)
{
    begin();
    start('a', 1000);
    start('b', 1001);
    start('a', 1010);
    if (next() < 1001)
        FIRES(next(), "");
    CHECK(next() == 1001);
    FIRES(1010, "ba");
    end();
}

/* An emptied bucket may wake the loop once, at its own time. */
static void once_for_an_emptied_bucket(void)
{
    begin();
    start('a', 10);
    start('b', 11);
    start('c', 5000);
    cancel('a');
    if (next() < 11)
        FIRES(next(), "");
    CHECK(next() == 11); /* each has a bucket of its own */
    cancel('b');
    if (next() < 5000)
        FIRES(next(), "");
    CHECK(next() == 5000);
    FIRES(5000, "c");
    end();
}

static void exact_if_a_later_one_leaves(void)
{
    begin();
    start('a', 1000);
    start('b', 1001);
    cancel('b');
    CHECK(next() == 1000);
    FIRES(1000, "a");
    CHECK(tw_count(&tw) == 0);
    end();
}

static void never_later_than_due(void)
{
    random_state = 5;
    set_up(1, 0, 4, 0);
    for (int step = 0; step < 20000; step++) {
        probe *p = &probes[random_below(26)];
        uint64_t deadline = tw_now(&tw) + random_below(3000), due = UINT64_MAX;
        switch (random_below(4)) {
        case 0:
            tw_cancel(&tw, &p->timer);
            break;
        case 1:
            tw_postpone(&tw, &p->timer, deadline);
            break;
        case 2:
            tw_advance_clock(&tw, tw_now(&tw) + random_below(50));
            break;
        default:
            tw_start(&tw, &p->timer, deadline);
        }
        for (int i = 0; i < 26; i++)
            if (tw_is_pending(&probes[i].timer) &&
                tw_deadline(&probes[i].timer) < due)
                due = tw_deadline(&probes[i].timer);
        CHECK(tw_count(&tw) == 0 || next() <= due);
    }
    end();
}

/* Sleeps by tw_wait until nothing is pending; returns the wake-ups. */
static size_t sleep_through(size_t *idle)
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

/* A client with up to `width` requests under way, answered after 1 to 100 ms,
 * each with a time-out of 30 s; the loop also wakes when tw_wait says so.
 * Wake-ups for nothing, in an hour. */
static size_t request_wake_ups(size_t width, uint64_t pause)
{
    tw_timer requests[3];
    uint64_t answers[3], clock = 0;
    size_t idle = 0;
    begin();
    for (size_t i = 0; i < width; i++) {
        tw_timer_init(&requests[i], NULL);
        answers[i] = 1 + i;
    }
    while (clock < 3600000) {
        size_t first = 0;
        for (size_t i = 1; i < width; i++)
            first = answers[i] < answers[first] ? i : first;
        uint64_t wait = tw_wait(&tw, clock, answers[first] - clock);
        idle += wait < answers[first] - clock;
        clock += wait;
        CHECK(tw_advance_clock(&tw, clock) == 0);
        if (clock < answers[first])
            continue;
        bool was_pending = tw_cancel(&tw, &requests[first]);
        if (!was_pending || pause == 0)
            CHECK(tw_start(&tw, &requests[first], clock + 30000) == TW_OK);
        answers[first] = clock + 1 +
                         random_below(was_pending && pause ? pause : 100);
    }
    for (size_t i = 0; i < width; i++)
        tw_cancel(&tw, &requests[i]);
    end();
    return idle;
}

/* With nothing else pending they wake the loop once a time-out's length, less
 * the time that a request has been under way then and a bucket's step. */
static void a_wake_up_per_time_out(void)
{
    random_state = 77;
    size_t most = 3600000 / (30000 - 100 - 256) + 1;
    CHECK(request_wake_ups(1, 0) <= most);
    CHECK(request_wake_ups(1, 50) <= most);
    CHECK(request_wake_ups(3, 0) <= 3 * most);
    CHECK(request_wake_ups(3, 1000) <= 3 * most);
}

static void a_wake_up_per_tick(void)
{
    random_state = 11;
    for (uint32_t size = 2; size <= 4096; size *= 4) {
        size_t distinct = 0, idle = 0;
        static bool taken[2000];
        memset(taken, 0, sizeof taken);
        set_up(1, 0, size, 0);
        deal_tickets(1999);
        for (size_t i = 0; i < TICKETS; i++) {
            distinct += !taken[tw_deadline(&tickets[i].timer)];
            taken[tw_deadline(&tickets[i].timer)] = true;
        }
        CHECK(sleep_through(&idle) == distinct);
        CHECK(idle == 0);
        end();
    }
}

static void idle_wake_ups_are_few(void)
{
    size_t idle = 0, moved = 0;
    random_state = 12;
    set_up(1, 0, 16, 0);
    deal_tickets(100000);
    for (size_t i = 0; i < TICKETS; i += 2, moved++)
        tw_postpone(&tw, &tickets[i].timer, 200000 + random_below(1000));
    sleep_through(&idle);
    CHECK(idle <= moved); /* once for each timer at the most */
    end();
}

/* --------------------------------------------------------------- promise 10 */

static void wait_table(void)
{
    static const struct {
        uint64_t now, longest, expected;
    } rows[] = {
        {0, 1000, 100},       {0, 100, 100},
        {0, 99, 99},          {0, 0, 0},
        {99, 1000, 1},        {100, 1000, 0},
        {101, 1000, 0},       {UINT64_MAX, 7, 0},
        {40, UINT64_MAX, 60}, {0, UINT64_MAX, 100},
    };
    begin();
    start('a', 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(tw_wait(&tw, rows[i].now, rows[i].longest) == rows[i].expected);
    CHECK(tw_now(&tw) == 0); /* asking moves nothing */
    end();
}

static void wait_for_nothing(void)
{
    begin();
    CHECK(tw_wait(&tw, 0, 1234) == 1234);
    CHECK(tw_wait(&tw, 99, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_wait(&tw, 0, 0) == 0);
    end();
}

/* UINT64_MAX is how to sleep for ever: nothing that the clock will reach is as
 * far away, once it has begun to run. */
static void wait_for_ever(void)
{
    set_up(3, 0, 0, 0);
    CHECK(tw_wait(&tw, 1, UINT64_MAX) == UINT64_MAX);
    start('a', UINT64_MAX); /* which three divides */
    CHECK(tw_wait(&tw, 1, UINT64_MAX) == UINT64_MAX - 1);
    start('b', 7);
    CHECK(tw_wait(&tw, 1, UINT64_MAX) == 8);
    cancel('a');
    FIRES(9, "b");
    CHECK(tw_wait(&tw, 9, UINT64_MAX) == UINT64_MAX);
    end();
}

static void wait_by_ticks(void)
{
    set_up(10, 0, 0, 0);
    start('a', 25);
    CHECK(tw_wait(&tw, 25, 100) == 5);
    CHECK(tw_wait(&tw, 29, 100) == 1);
    CHECK(tw_wait(&tw, 30, 100) == 0);
    end();
}

static void wait_after_all_fired(void)
{
    begin();
    start('a', 10);
    start('b', 900);
    FIRES(10, "a");
    CHECK(tw_wait(&tw, 10, 5000) == 890); /* above 0: nothing spins */
    end();
}

static void wait_is_long_enough(void)
{
    random_state = 31;
    set_up(7, 1000, 4, 0);
    for (int i = 0; i < 2000; i++) {
        uint64_t now = tw_now(&tw);
        start('a', now + 1 + random_below(5000));
        uint64_t wait = tw_wait(&tw, now, UINT64_MAX);
        if (wait > 0)
            FIRES(now + wait - 1, "");
        FIRES(now + wait, "a");
    }
    end();
}

/* --------------------------------------------------------------- promise 11 */

static void postpone_is_one_store(void)
{
    begin();
    start('a', 100);
    start('b', 100);
    remember();
    CHECK(postpone('a', 5000) == TW_OK);
    CHECK(tw_deadline(timer_of('a')) == 5000);
    before.probes[0].timer.deadline = 5000;
    CHECK(unchanged()); /* nothing but the deadline */
    FIRES(4999, "b");
    FIRES(5000, "a");
    end();
}

static void postpone_to_the_same(void)
{
    begin();
    start('a', 100);
    remember();
    CHECK(postpone('a', 100) == TW_OK);
    CHECK(unchanged());
    FIRES(100, "a");
    end();
}

static void postpone_earlier(void)
{
    begin();
    start('a', 5000);
    CHECK(postpone('a', 100) == TW_OK);
    CHECK(next() == 100);
    CHECK(tw_count(&tw) == 1);
    FIRES(99, "");
    FIRES(100, "a");
    FIRES(5000, "");
    end();
}

static void postpone_into_the_past(void)
{
    begin_at(1000);
    start('a', 5000);
    CHECK(postpone('a', 10) == TW_OK);
    FIRES(0, "a");
    end();
}

static void postpone_starts(void)
{
    begin();
    CHECK(postpone('a', 10) == TW_OK); /* idle */
    CHECK(tw_is_pending(timer_of('a')));
    FIRES(10, "a");
    CHECK(postpone('a', 20) == TW_OK); /* fired */
    cancel('a');
    CHECK(postpone('a', 30) == TW_OK); /* cancelled */
    FIRES(29, "");
    FIRES(30, "a");
    end();
}

static void postpone_there_and_back(void)
{
    begin();
    start('a', 100);
    postpone('a', 900);
    CHECK(postpone('a', 500) == TW_OK); /* earlier than asked for last */
    CHECK(next() <= 500);
    FIRES(499, "");
    FIRES(500, "a");
    FIRES(5000, "");
    end();
}

static void postpone_for_ever(void)
{
    begin();
    start('a', 100);
    postpone('a', UINT64_MAX);
    FIRES(100, "");
    CHECK(next() == UINT64_MAX);
    FIRES(UINT64_MAX - 1, "");
    FIRES(UINT64_MAX, "a");
    end();
}

static void postpone_at_every_packet(void)
{
    begin();
    start('a', 1000);
    for (uint64_t now = 0; now < 100000; now += 10) {
        CHECK(tw_advance_clock(&tw, now) == 0);
        CHECK(postpone('a', now + 1000) == TW_OK);
    }
    CHECK(stats().cascaded <= 100000 / 990);
    CHECK(stats().bytes_held < 128 * 1024); /* two wheels, a chunk a bucket */
    FIRES(100989, "");
    FIRES(100990, "a");
    end();
}

static void postpone_within_its_tick(void)
{
    set_up(10, 0, 0, 0);
    start('a', 11);
    start('b', 11);
    postpone('a', 19);
    FIRES(19, "");
    clear_log();
    CHECK(tw_advance_clock(&tw, 20) == 2); /* in any order */
    end();
}

static void postpone_over_every_wheel(void)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t deadline = UINT64_C(1) << bit;
        set_up(1, 0, 4, 0);
        start('a', 1);
        CHECK(postpone('a', deadline) == TW_OK);
        if (deadline > 1)
            FIRES(deadline - 1, "");
        FIRES(deadline, "a");
        end();
    }
}

/* Three of one bucket of the second wheel; the first has fired, the next one is
 * postponed behind the last. */
static void postpone_behind_another(void)
{
    for (uint64_t until = 1021; until < 3000; until += 500) {
        begin();
        start('c', 1020);
        start('b', 1010);
        start('a', 1000);
        FIRES(1000, "a");
        postpone('b', until);
        CHECK(next() == 1010); /* the only wake-up in vain */
        FIRES(1010, "");
        CHECK(next() == 1020);
        FIRES(1019, "");
        FIRES(1020, "c");
        CHECK(next() == until);
        FIRES(until - 1, "");
        FIRES(until, "b");
        end();
    }
}

/* One that is not the next of them is postponed: no wake-up is in vain. */
static void postpone_behind_the_next(void)
{
    for (uint64_t until = 1021; until < 3000; until += 500) {
        begin();
        start('a', 1000);
        start('b', 1010);
        start('c', 1015);
        start('d', 1020);
        FIRES(1000, "a");
        postpone('c', until);
        CHECK(next() == 1010);
        FIRES(1010, "b");
        CHECK(next() == 1020);
        FIRES(1020, "d");
        CHECK(next() == until);
        FIRES(until - 1, "");
        FIRES(until, "c");
        end();
    }
}

static void postpone_many_of_a_bucket(void)
{
    set_up(1, 0, 8, 0);
    for (char name = 'a'; name <= 'z'; name++)
        start(name, 600);
    for (char name = 'b'; name <= 'z'; name = (char)(name + 2))
        postpone(name, 600 + (uint64_t)(name - 'a') * 7);
    FIRES(600, "acegikmoqsuwy");
    FIRES(700, "bdfhjln");
    FIRES(1000, "prtvxz");
    end();
}

static void no_allocation_once_warm(void)
{
    begin();
    deal_tickets(60000);
    size_t calls = memory.calls;
    for (int i = 0; i < 100000; i++) {
        tw_timer *timer = &tickets[random_below(TICKETS)].timer;
        CHECK(tw_cancel(&tw, timer));
        CHECK(tw_start(&tw, timer, 1 + random_below(60000)) == TW_OK);
    }
    CHECK(memory.calls <= calls + 12); /* more chunks, half empty */
    end();
}

/* --------------------------------------------------------------- promise 12 */

static void roundest_tick(void)
{
    static const struct {
        uint64_t tick, clock, earliest, latest, expected;
    } rows[] = {
        {1, 0, 1000, 1100, 1024},
        {1, 0, 5, 7, 6},
        {1, 0, 5, 5, 5},
        {1, 0, 5, 6, 6},
        {1, 0, 255, 257, 256},
        {1, 0, 300, 700, 512},
        {1, 0, 1, UINT64_MAX, UINT64_C(1) << 63},
        {1, 0, 0, UINT64_MAX, UINT64_C(1) << 63},
        {1, 0, UINT64_MAX - 5, UINT64_MAX, UINT64_MAX - 3},
        {1, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {1, 100, 120, 140, 128},
        {1, 100, 50, 110, 104},   /* 64 has passed */
        {10, 0, 995, 1105, 1040}, /* ticks 100 to 110 */
        {10, 0, 11, 29, 20},
        {10, 0, 20, 29, 20},
        {1000, 0, 5001, 9999, 8000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_up(rows[i].tick, rows[i].clock, 0, 0);
        CHECK(start_within('a', rows[i].earliest, rows[i].latest) == TW_OK);
        CHECK(tw_deadline(timer_of('a')) == rows[i].expected);
        CHECK(next() == rows[i].expected);
        FIRES(rows[i].expected - 1, "");
        FIRES(rows[i].expected, "a");
        end();
    }
}

static void window_without_a_tick(void)
{
    set_up(10, 0, 0, 0);
    CHECK(start_within('a', 11, 19) == TW_OK); /* as tw_start(11) */
    CHECK(tw_deadline(timer_of('a')) == 11);
    FIRES(19, "");
    FIRES(20, "a");
    end();
}

static void window_reversed(void)
{
    begin();
    start('b', 50);
    remember();
    CHECK(start_within('a', 10, 9) == TW_EINVAL);
    CHECK(start_within('b', UINT64_MAX, 0) == TW_EINVAL);
    CHECK(unchanged());
    FIRES(50, "b");
    end();
}

static void window_in_the_past(void)
{
    begin_at(1000);
    CHECK(start_within('a', 10, 20) == TW_OK);
    CHECK(start_within('b', 1000, 1000) == TW_OK);
    FIRES(0, "ab");
    end();
}

static void window_around_the_clock(void)
{
    begin_at(1000);
    CHECK(start_within('a', 0, 1003) == TW_OK);
    CHECK(tw_deadline(timer_of('a')) == 1002); /* the roundest still ahead */
    FIRES(1001, "");
    FIRES(1002, "a");
    end();
}

static void window_beyond_the_last_tick(void)
{
    set_up(10, 0, 0, 0);
    CHECK(start_within('a', UINT64_MAX - 2, UINT64_MAX) == TW_OK);
    FIRES(UINT64_MAX, "");
    CHECK(tw_count(&tw) == 1);
    end();
}

static void window_moves_a_pending_timer(void)
{
    begin();
    start('a', 5);
    CHECK(start_within('a', 1000, 1100) == TW_OK);
    CHECK(tw_count(&tw) == 1);
    FIRES(1023, "");
    FIRES(1024, "a");
    end();
}

static void windows_share_a_wake_up(void)
{
    size_t idle = 0;
    begin();
    for (char name = 'a'; name <= 'z'; name++)
        start_within(name, 3900 + (uint64_t)(name - 'a'), 4100);
    CHECK(sleep_through(&idle) == 1); /* all at 4096 */
    CHECK(idle == 0);
    end();
}

static void window_is_kept(void)
{
    random_state = 77;
    for (int i = 0; i < 2000; i++) {
        uint64_t tick = 1 + random_below(20), from = random_below(100000);
        uint64_t early = from + random_below(100000);
        uint64_t late = early + random_below(1 + random_below(10000));
        set_up(tick, from, UINT32_C(2) << random_below(11), 0);
        CHECK(start_within('a', early, late) == TW_OK);
        uint64_t deadline = tw_deadline(timer_of('a'));
        CHECK(deadline >= early && deadline <= late);
        uint64_t first = early / tick + (early % tick != 0);
        if (late / tick >= first)
            CHECK(deadline % tick == 0);
        else
            CHECK(deadline == early);
        end();
    }
}

/* --------------------------------------------------------------- promise 13 */

static void limit_zero(void)
{
    begin_at(10);
    start('a', 5);
    start('b', 20);
    remember();
    CHECK(tw_advance_clock_limit(&tw, 100, 0) == 0);
    CHECK(unchanged());
    end();
}

static void limit_one_by_one(void)
{
    begin();
    start('a', 50);
    start('b', 50);
    start('c', 60);
    FIRES_AT_MOST(1, 100, "a");
    CHECK(tw_now(&tw) == 50);
    CHECK(tw_wait(&tw, 100, 1000) == 0);
    FIRES_AT_MOST(1, 100, "b");
    FIRES_AT_MOST(1, 100, "c");
    FIRES_AT_MOST(1, 100, "");
    CHECK(tw_now(&tw) == 100);
    end();
}

static void limit_met_exactly(void)
{
    begin();
    start('a', 50);
    start('b', 60);
    start('c', 200);
    FIRES_AT_MOST(2, 100, "ab");
    CHECK(tw_now(&tw) == 100); /* all are handled */
    CHECK(tw_wait(&tw, 100, 1000) == 100);
    end();
}

static void limit_leaves_the_rest_due(void)
{
    begin();
    start('a', 50);
    start('b', 50);
    start('c', 60);
    FIRES_AT_MOST(1, 100, "a");
    FIRES(0, "b"); /* at the clock: fires whatever the argument */
    FIRES(59, "");
    FIRES(60, "c");
    end();
}

static void limit_then_no_limit(void)
{
    begin();
    for (char name = 'a'; name <= 'e'; name++)
        start(name, 1000);
    FIRES_AT_MOST(2, 1000, "ab");
    FIRES(1000, "cde");
    end();
}

static void limit_of_overdue(void)
{
    begin_at(100);
    start('b', 5);
    start('a', 4);
    start('c', 6);
    FIRES_AT_MOST(1, 200, "b");
    CHECK(tw_now(&tw) == 100);
    CHECK(tw_wait(&tw, 0, 1000) == 0);
    FIRES_AT_MOST(1, 0, "a");
    FIRES_AT_MOST(5, 0, "c");
    end();
}

static void limit_and_a_new_start(void)
{
    begin();
    start('a', 50);
    start('b', 80);
    FIRES_AT_MOST(1, 100, "a");
    start('c', 70); /* ahead of the clock, which stays at 50 */
    start('d', 40); /* behind it */
    FIRES(100, "cbd"); /* left due, in order, and then what is overdue since */
    end();
}

static void limit_and_cancel(void)
{
    begin();
    start('a', 50);
    start('b', 50);
    start('c', 50);
    FIRES_AT_MOST(1, 100, "a");
    CHECK(cancel('b'));
    CHECK(postpone('c', 90) == TW_OK);
    FIRES(89, "");
    FIRES(90, "c");
    end();
}

static void limit_and_a_callback(void)
{
    begin();
    start('a', 50);
    start('c', 52);
    when_fired('a', act_start, 'b', 51);
    FIRES_AT_MOST(2, 100, "ab");
    FIRES_AT_MOST(2, 100, "c");
    end();
}

static void limit_is_kept(void)
{
    random_state = 13;
    for (size_t limit = 1; limit <= 64; limit *= 2) {
        size_t calls = 0;
        set_up(1, 0, 8, 0);
        deal_tickets(100000);
        for (size_t i = 0; i < TICKETS; i += 5)
            tw_postpone(&tw, &tickets[i].timer, 100000);
        while (tw_count(&tw) != 0) {
            tw_stats was = stats();
            size_t count = tw_advance_clock_limit(&tw, 100000, limit);
            tw_stats is = stats();
            CHECK(is.fired - was.fired == count);
            CHECK(is.fired + is.cascaded - was.fired - was.cascaded <= limit);
            CHECK(tw_count(&tw) == 0 || tw_wait(&tw, 100000, 9) == 0);
            calls++;
        }
        /* No call comes back early with work left, or but for a cause. */
        CHECK(calls * limit <= 2 * (stats().fired + stats().cascaded) + limit);
        end();
    }
}

static void limit_huge(void)
{
    begin();
    start('a', 5);
    start('b', UINT64_MAX);
    FIRES_AT_MOST(SIZE_MAX, UINT64_MAX, "ab");
    end();
}

static void limit_backwards(void)
{
    begin();
    start('a', 50);
    start('b', 50);
    start('c', 50);
    FIRES_AT_MOST(1, 60, "a");
    FIRES_AT_MOST(1, 10, "b");
    FIRES_AT_MOST(1, 10, "c");
    CHECK(tw_now(&tw) == 50);
    end();
}

/* --------------------------------------------------------------- promise 14 */

static void never_one_block_a_timer(void)
{
    begin();
    random_state = 3;
    deal_tickets(60000);
    CHECK(memory.calls < TICKETS / 50);
    end();
}

static void cancel_allocates_nothing(void)
{
    begin();
    random_state = 3;
    deal_tickets(60000);
    size_t calls = memory.calls;
    for (size_t i = 0; i < TICKETS; i += 2)
        tw_postpone(&tw, &tickets[i].timer, 100000);
    for (size_t i = 0; i < TICKETS; i++)
        CHECK(tw_cancel(&tw, &tickets[i].timer));
    CHECK(memory.calls == calls);
    end();
}

static void reserve_then_no_malloc(void)
{
    begin();
    CHECK(tw_reserve(&tw, TICKETS, 100000) == TW_OK);
    size_t calls = memory.calls;
    CHECK(calls > 0);
    random_state = 3;
    deal_tickets(100000);
    CHECK(tw_advance_clock(&tw, 100000) == TICKETS);
    CHECK(memory.calls == calls);
    CHECK(misplaced == 0);
    end();
}

static void reserve_again_is_free(void)
{
    begin();
    CHECK(tw_reserve(&tw, 1000, 100000) == TW_OK);
    size_t calls = memory.calls;
    CHECK(tw_reserve(&tw, 1000, 100000) == TW_OK);
    CHECK(tw_reserve(&tw, 10, 1000) == TW_OK);
    CHECK(tw_reserve(&tw, 0, 0) == TW_OK);
    CHECK(memory.calls == calls);
    CHECK(tw_reserve(&tw, 2000, 100000) == TW_OK);
    CHECK(memory.calls > calls);
    end();
}

/* What is pending is among the timers that are reserved for. */
static void reserve_as_they_grow(void)
{
    set_up(1, 0, 4, 0);
    CHECK(tw_reserve(&tw, TICKETS, 100000) == TW_OK);
    size_t at_once = stats().bytes_held;
    end();
    set_up(1, 0, 4, 0);
    random_state = 9;
    for (size_t i = 0; i < TICKETS; i++) {
        CHECK(tw_reserve(&tw, tw_count(&tw) + 1, 100000) == TW_OK);
        size_t calls = memory.calls;
        tw_timer_init(&tickets[i].timer, NULL);
        CHECK(tw_start(&tw, &tickets[i].timer, random_below(100001)) == TW_OK);
        CHECK(memory.calls == calls);
    }
    CHECK(stats().bytes_held <= at_once + at_once / 2);
    size_t calls = memory.calls;
    CHECK(tw_advance_clock(&tw, 100000) == TICKETS);
    CHECK(tw_reserve(&tw, TICKETS, 100000) == TW_OK);
    CHECK(memory.calls == calls);
    end();
}

static void reserve_all_of_time(void)
{
    set_up(1, 0, 2, 0);
    CHECK(tw_reserve(&tw, 5, UINT64_MAX) == TW_OK);
    size_t calls = memory.calls;
    start('a', UINT64_MAX);
    start('b', 0);
    start('c', UINT64_C(1) << 40);
    start('d', 3);
    start('e', UINT64_C(1) << 63);
    FIRES(UINT64_MAX, "bdcea");
    CHECK(memory.calls == calls);
    end();
}

static void reserve_changes_no_timer(void)
{
    begin();
    start('a', 70);
    start('b', 70000);
    CHECK(tw_reserve(&tw, 500, 1000000) == TW_OK);
    CHECK(tw_count(&tw) == 2);
    CHECK(next() == 70);
    FIRES(70000, "ab");
    end();
}

static void trim_gives_everything_back(void)
{
    begin();
    random_state = 4;
    deal_tickets(60000);
    CHECK(tw_advance_clock(&tw, 60000) == TICKETS);
    CHECK(memory.bytes > 0);
    tw_trim(&tw);
    CHECK(memory.bytes == 0);
    CHECK(stats().bytes_held == 0);
    CHECK(start('a', 70000) == TW_OK); /* it works as before */
    FIRES(70000, "a");
    end();
}

static void trim_spares_timers(void)
{
    begin();
    start('a', 0);
    random_state = 4;
    deal_tickets(60000);
    start('b', 50000);
    for (size_t i = 0; i < TICKETS; i++)
        tw_cancel(&tw, &tickets[i].timer);
    size_t bytes = memory.bytes;
    tw_trim(&tw);
    CHECK(memory.bytes < bytes);
    CHECK(tw_count(&tw) == 2);
    FIRES(60000, "ab");
    end();
}

static void trim_of_nothing(void)
{
    begin();
    tw_trim(&tw);
    CHECK(tw_reserve(&tw, 100, 1000) == TW_OK);
    tw_trim(&tw);
    CHECK(memory.bytes == 0); /* a reserve included */
    end();
}

/* --------------------------------------------------------------- promise 15 */

static void start_without_memory(void)
{
    begin();
    heap_fail(&memory, 1, true);
    remember();
    CHECK(start('a', 10) == TW_ENOMEM);
    CHECK(start_within('a', 10, 20) == TW_ENOMEM);
    CHECK(postpone('a', 10) == TW_ENOMEM);
    CHECK(start('a', 0) == TW_ENOMEM);
    CHECK(tw_reserve(&tw, 5, 5) == TW_ENOMEM);
    before.memory.calls = memory.calls;
    CHECK(unchanged());
    heap_fail(&memory, 0, false);
    CHECK(start('a', 10) == TW_OK);
    FIRES(10, "a");
    end();
}

static void restart_without_memory(void)
{
    begin();
    start('a', 10);
    heap_fail(&memory, 1, true);
    remember();
    CHECK(start('a', 100000) == TW_ENOMEM); /* needs a wheel */
    before.memory.calls = memory.calls;
    CHECK(unchanged());
    heap_fail(&memory, 0, false);
    CHECK(state_of('a') == TW_PENDING);
    FIRES(10, "a");
    end();
}

static void postponing_needs_no_memory(void)
{
    begin();
    start('a', 10);
    heap_fail(&memory, 1, true);
    CHECK(postpone('a', 100000) == TW_OK);
    FIRES(99999, ""); /* it cannot be moved, and is not lost */
    FIRES(100000, "a");
    end();
}

/* Overdue timers that cannot be started anew for want of memory stay owed. */
static void overdue_postponed_without_memory(void)
{
    begin_at(100);
    start('a', 90);
    start('b', 91);
    heap_fail(&memory, 1, true);
    CHECK(postpone('a', 100000) == TW_ENOMEM);
    CHECK(tw_deadline(timer_of('a')) == 90);
    FIRES(100, "ab");
    heap_fail(&memory, 0, false);
    end();
}

static void put_off_the_others(probe *self)
{
    (void)self;
    heap_fail(&memory, 1, true);
    CHECK(postpone('c', 900) == TW_OK);
    CHECK(postpone('d', 100000) == TW_OK);
}

/* They are in a bucket that is being fired in order, and cannot leave it. */
static void sorted_postponed_without_memory(void)
{
    begin();
    for (char name = 'a'; name <= 'f'; name++)
        start(name, 520 + (uint64_t)(name - 'a') * 2);
    when_fired('a', put_off_the_others, 'a', 0);
    FIRES(521, "a");
    FIRES(600, "bef");
    CHECK(tw_count(&tw) == 2);
    FIRES(899, "");
    FIRES(900, "c");
    heap_fail(&memory, 0, false);
    FIRES(99999, "");
    FIRES(100000, "d");
    end();
}

/* Reserving one more at a time costs what reserving all at once does. */
static void reserved_one_by_one(void)
{
    begin();
    CHECK(tw_reserve(&tw, 20000, 100000) == TW_OK);
    size_t at_once = stats().bytes_held;
    end();
    begin();
    for (size_t i = 1; i <= 20000; i++)
        CHECK(tw_reserve(&tw, i, 100000) == TW_OK);
    CHECK(stats().bytes_held <= at_once + at_once / 2);
    end();
}

#if UINTPTR_MAX > UINT32_MAX
static void on_rearm(timingwheel *wheel, tw_timer *timer)
{
    uint64_t deadline = tw_after(tw_now(wheel), 1 + random_below(60000));
    CHECK(tw_start(wheel, timer, deadline) == TW_OK);
}

/* What the README says of memory, on 64 bits. */
static void memory_of_few_and_many(void)
{
    random_state = 5;
    CHECK(sizeof(tw_timer) == 24 && sizeof(timingwheel) <= 1500);
    begin();
    start('a', 30000);
    CHECK(stats().bytes_held <= 18000);
    end();
    begin();
    for (size_t i = 0; i < 100; i++) {
        tw_timer_init(&tickets[i].timer, on_rearm);
        on_rearm(&tw, &tickets[i].timer);
    }
    CHECK(tw_advance_clock(&tw, 3000000) > 1000);
    CHECK(stats().bytes_held <= 128000);
    tw_drain(&tw, NULL, NULL);
    end();
    begin();
    tw_timer *many = (tw_timer *)calloc(1000000, sizeof *many);
    if (!CHECK(many != NULL))
        return;
    for (size_t i = 0; i < 1000000; i++)
        CHECK(tw_start(&tw, &many[i], 1 + random_below(60000)) == TW_OK);
    CHECK(stats().bytes_held / 1000000 + sizeof(tw_timer) <= 36);
    end();
    free(many);
}
#endif

static void put_off_three(probe *self)
{
    uint64_t other = 0;
    (void)self;
    heap_fail(&memory, 1, true);
    do /* until no chunk is left */
        tw_timer_init(&tickets[other].timer, NULL);
    while (tw_start(&tw, &tickets[other].timer, 5000 + 256 * other) == TW_OK &&
           ++other < 100);
    CHECK(other < 100);
    CHECK(postpone('c', 900) == TW_OK);
    CHECK(postpone('d', 900) == TW_OK);
    CHECK(postpone('e', 900) == TW_OK);
}

/* Three for one tick, of which the first two have been polled. What a poll has
 * left due comes before a timer that was started overdue since, and after one
 * that was so before. */
static void overdue_beside_stuck(void)
{
    begin();
    for (char name = 'a'; name <= 'f'; name++)
        start(name, 520 + (uint64_t)(name - 'a') * 2);
    when_fired('a', put_off_three, 'a', 0);
    FIRES(521, "a");
    FIRES(600, "bf");
    heap_fail(&memory, 0, false);
    start('b', 550);
    heap_fail(&memory, 1, true);
    CHECK(tw_poll(&tw, 1000) == timer_of('b'));
    CHECK(tw_poll(&tw, 1000) == timer_of('c'));
    heap_fail(&memory, 0, false);
    start('a', 850);
    CHECK(tw_poll(&tw, 1000) == timer_of('d'));
    CHECK(tw_poll(&tw, 1000) == timer_of('e'));
    CHECK(tw_poll(&tw, 1000) == timer_of('a'));
    CHECK(tw_poll(&tw, 1000) == NULL);
    end();
}

static void too_many_to_reserve(void)
{
    begin();
    start('a', 10);
    remember();
    CHECK(tw_reserve(&tw, SIZE_MAX, 100) == TW_ENOMEM);
    CHECK(tw_reserve(&tw, SIZE_MAX / 2, 100) == TW_ENOMEM);
    CHECK(unchanged());
    FIRES(10, "a");
    end();
}

/* ---------------------------------------------------------------- callbacks */

static void cb_not_pending(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_read_state, 'a', 0);
    FIRES(10, "a");
    CHECK(named('a')->status == TW_FIRED);
    end();
}

static void cb_count(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 20);
    when_fired('a', act_count, 'a', 0);
    when_fired('c', act_count, 'a', 0);
    FIRES(20, "abc");
    CHECK(named('a')->status == 2);
    CHECK(named('c')->status == 0);
    end();
}

static void cb_restarts_itself(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start_after, 'a', 10);
    FIRES(10, "a");
    CHECK(state_of('a') == TW_PENDING);
    FIRES(19, "");
    FIRES(45, "aaa");
    end();
}

static void cb_postpones_itself(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_postpone, 'a', 30); /* not pending: it starts */
    FIRES(29, "a");
    FIRES(30, "a");
    end();
}

static void cb_cancels_itself(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_cancel, 'a', 0);
    FIRES(10, "a");
    CHECK(named('a')->status == 0);
    CHECK(state_of('a') == TW_FIRED);
    end();
}

static void cb_cancels_same_tick(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 10);
    when_fired('a', act_cancel, 'b', 0);
    FIRES(10, "ac");
    CHECK(named('a')->status == 1);
    CHECK(state_of('b') == TW_CANCELLED);
    end();
}

static void cb_cancels_the_last(void)
{
    begin();
    start('a', 300);
    start('b', 300);
    when_fired('a', act_cancel, 'b', 0);
    FIRES(300, "a");
    CHECK(tw_count(&tw) == 0);
    end();
}

static void cb_cancels_a_later_tick(void)
{
    begin();
    start('a', 10);
    start('b', 11);
    start('c', 100000);
    when_fired('a', act_cancel, 'b', 0);
    FIRES(100000, "ac");
    end();
}

static void cb_cancels_what_has_fired(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    when_fired('b', act_cancel, 'a', 0);
    FIRES(10, "ab");
    CHECK(named('b')->status == 0);
    CHECK(state_of('a') == TW_FIRED);
    end();
}

/* Every pair of twelve in one tick: the first cancels the second. */
static void cb_cancels_every_pair(void)
{
    for (char from = 'a'; from < 'a' + 12; from++)
        for (char to = 'a'; to < 'a' + 12; to++) {
            char expected[13] = "";
            begin();
            for (char name = 'a'; name < 'a' + 12; name++) {
                char text[2] = {name, '\0'};
                start(name, 300);
                if (name != to || to <= from)
                    strcat(expected, text);
            }
            when_fired(from, act_cancel, to, 0);
            FIRES(300, expected);
            end();
        }
}

/* Every pair again: the first starts the second for a later tick. */
static void cb_moves_every_pair(void)
{
    for (char from = 'a'; from < 'a' + 12; from++)
        for (char to = 'a'; to < 'a' + 12; to++) {
            char expected[15] = "", moved[2] = {to, '\0'};
            set_up(1, 0, 4, 0);
            for (char name = 'a'; name < 'a' + 12; name++) {
                char text[2] = {name, '\0'};
                start(name, 300);
                if (name != to || to <= from)
                    strcat(expected, text);
            }
            when_fired(from, act_start, to, 301);
            FIRES(300, expected);
            named(from)->act = NULL;
            FIRES(301, moved);
            end();
        }
}

static void cb_postpones_same_tick(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 10);
    when_fired('a', act_postpone, 'b', 20);
    FIRES(19, "ac");
    FIRES(20, "b");
    end();
}

static void cb_postpones_into_this_call(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 15);
    when_fired('a', act_postpone, 'b', 20);
    FIRES(30, "acb");
    CHECK(fired_at[2] == 20);
    end();
}

static void cb_postpones_to_the_same(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    when_fired('a', act_postpone, 'b', 10);
    FIRES(10, "ab");
    end();
}

static void cb_restarts_same_tick_for_now(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 10);
    when_fired('a', act_start, 'b', 10); /* started in a callback: next call */
    FIRES(50, "ac");
    FIRES(50, "b");
    end();
}

static void cb_pulls_a_later_one_forward(void)
{
    begin();
    start('a', 10);
    start('b', 100000);
    when_fired('a', act_start, 'b', 11);
    FIRES(20, "ab");
    FIRES(100000, "");
    end();
}

static void cb_pings_and_pongs(void)
{
    begin();
    start('a', 1);
    when_fired('a', act_start_after, 'b', 3);
    when_fired('b', act_start_after, 'a', 400);
    FIRES(1000, "ababab");
    end();
}

static void cb_refused(void (*act)(probe *), bool overdue)
{
    begin();
    start('a', overdue ? 0 : 10);
    start('b', 20);
    start('c', 100);
    when_fired('a', act, 'a', 50);
    named('a')->status = -99;
    FIRES(30, "ab"); /* the outer call goes on undisturbed */
    CHECK(named('a')->status == 0 || named('a')->status == -99);
    CHECK(tw_now(&tw) == 30);
    CHECK(tw_count(&tw) == 1);
    FIRES(100, "c");
    end();
}

static void cb_advance_refused(void)
{
    cb_refused(act_advance, false);
    cb_refused(act_advance, true);
    CHECK(named('a')->status == 0);
}

static void cb_limit_refused(void)
{
    cb_refused(act_advance_limit, false);
    cb_refused(act_advance_limit, true);
    CHECK(named('a')->status == 0);
}

static void cb_poll_refused(void)
{
    cb_refused(act_poll, false);
    cb_refused(act_poll, true);
    CHECK(named('a')->status == 0);
}

static void cb_destroy_refused(void)
{
    cb_refused(act_destroy, false);
    cb_refused(act_destroy, true);
}

static void cb_trim_refused(void)
{
    cb_refused(act_trim, false);
    cb_refused(act_trim, true);
}

static void cb_drains(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 11);
    start('d', 100000);
    when_fired('a', act_drain, 'a', 0);
    FIRES(20, "a");
    CHECK(named('a')->status == 3);
    CHECK(tw_count(&tw) == 0);
    CHECK(state_of('b') == TW_IDLE && state_of('d') == TW_IDLE);
    CHECK(tw_now(&tw) == 20);
    end();
}

/* Drains and then starts a timer for a time within the call. */
static void act_drain_and_start(probe *self)
{
    tw_drain(&tw, NULL, NULL);
    act_start(self);
}

static void cb_drains_and_starts(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 15);
    when_fired('a', act_drain_and_start, 'c', 17);
    FIRES(20, "ac");
    CHECK(fired_at[1] == 17);
    end();
}

static void cb_drains_overdue(void)
{
    begin_at(50);
    start('a', 1);
    start('b', 2);
    start('c', 60);
    when_fired('a', act_drain, 'a', 0);
    FIRES(100, "a");
    CHECK(named('a')->status == 2);
    end();
}

/* A timer in memory of its own, which its callback frees. */
static size_t freed;

static void on_fire_free(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel;
    freed++;
    free(timer);
}

static void cb_frees_its_timer(void)
{
    begin();
    freed = 0;
    for (uint64_t i = 0; i < 300; i++) {
        tw_timer *timer = (tw_timer *)malloc(sizeof *timer);
        tw_timer_init(timer, on_fire_free);
        CHECK(tw_start(&tw, timer, i / 3 * 100) == TW_OK);
    }
    CHECK(tw_advance_clock(&tw, 20000) == 300);
    CHECK(freed == 300);
    end();
}

static void act_cancel_and_wipe(probe *self)
{
    tw_cancel(&tw, &self->other->timer);
    memset(&self->other->timer, 0xa5, sizeof self->other->timer);
}

static void cb_frees_another(void)
{
    begin();
    start('a', 10);
    start('b', 10); /* wiped, as by its owner's free */
    start('c', 10);
    when_fired('a', act_cancel_and_wipe, 'b', 0);
    FIRES(10, "ac");
    end();
}

static void cb_none(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    begin();
    CHECK(tw_start(&tw, &timer, 10) == TW_OK);
    CHECK(tw_advance_clock(&tw, 10) == 1); /* counted, and only marked */
    CHECK(tw_timer_state(&timer) == TW_FIRED);
    end();
}

static timingwheel other_wheel;
static tw_timer other_timer;

static void act_advance_other(probe *self)
{
    self->status = (int)tw_advance_clock(&other_wheel, 100);
}

static void cb_advances_another_wheel(void)
{
    begin();
    tw_config config = {1, 0, 0, 0, &memory};
    tw_init(&other_wheel, &config);
    tw_timer_init(&other_timer, NULL);
    tw_start(&other_wheel, &other_timer, 50);
    start('a', 10);
    when_fired('a', act_advance_other, 'a', 0);
    FIRES(10, "a");
    CHECK(named('a')->status == 1);
    CHECK(tw_now(&other_wheel) == 100);
    tw_destroy(&other_wheel);
    end();
}

static uint64_t seen_next, seen_wait;

static void act_ask(probe *self)
{
    (void)self;
    seen_next = next();
    seen_wait = tw_wait(&tw, tw_now(&tw), 1000);
}

static void cb_asks_for_the_next(void)
{
    begin();
    start('a', 10);
    start('b', 25);
    when_fired('a', act_ask, 'a', 0);
    FIRES(10, "a");
    CHECK(seen_next == 25);
    CHECK(seen_wait == 15);
    end();
}

static void act_reserve(probe *self)
{
    self->status = tw_reserve(&tw, 1000, self->value);
}

static void cb_reserves(void)
{
    begin();
    start('a', 300);
    start('b', 300);
    start('c', 301);
    when_fired('a', act_reserve, 'a', 1000000);
    FIRES(400, "abc");
    CHECK(named('a')->status == TW_OK);
    end();
}

/* ----------------------------------------------------------------- refusals */

static void bad_wheel_sizes(void)
{
    static const uint32_t sizes[] = {
        1, 3, 5, 7, 100, 4095, 4097, 8192, 6000, 255, 1U << 31U, UINT32_MAX};
    begin();
    start('a', 5);
    remember();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tw_config config = {1, 0, sizes[i], 0, &memory};
        CHECK(tw_init(&tw, &config) == TW_EINVAL);
        CHECK(unchanged());
    }
    end();
}

static void null_wheel(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    uint64_t deadline = 42;
    tw_stats s;
    CHECK(tw_init(NULL, NULL) == TW_EINVAL);
    tw_destroy(NULL);
    CHECK(tw_start(NULL, &timer, 5) == TW_EINVAL);
    CHECK(tw_start_within(NULL, &timer, 5, 9) == TW_EINVAL);
    CHECK(tw_postpone(NULL, &timer, 5) == TW_EINVAL);
    CHECK(tw_reserve(NULL, 5, 5) == TW_EINVAL);
    CHECK(!tw_cancel(NULL, &timer));
    CHECK(tw_advance_clock(NULL, 5) == 0);
    CHECK(tw_advance_clock_limit(NULL, 5, 5) == 0);
    CHECK(tw_poll(NULL, 5) == NULL);
    CHECK(!tw_next_deadline(NULL, &deadline) && deadline == 42);
    CHECK(tw_wait(NULL, 5, 77) == 77);
    CHECK(tw_now(NULL) == 0 && tw_count(NULL) == 0 && !tw_check(NULL));
    CHECK(tw_foreach(NULL, NULL, NULL) == 0 && tw_drain(NULL, NULL, NULL) == 0);
    tw_trim(NULL);
    tw_get_stats(NULL, &s);
    CHECK(s.pending == 0 && s.bytes_held == 0);
    CHECK(tw_timer_state(&timer) == TW_IDLE);
}

static void null_timer(void)
{
    begin();
    remember();
    CHECK(tw_start(&tw, NULL, 5) == TW_EINVAL);
    CHECK(tw_start_within(&tw, NULL, 5, 9) == TW_EINVAL);
    CHECK(tw_postpone(&tw, NULL, 5) == TW_EINVAL);
    CHECK(!tw_cancel(&tw, NULL));
    CHECK(!tw_is_pending(NULL));
    CHECK(tw_timer_state(NULL) == TW_IDLE);
    CHECK(tw_deadline(NULL) == 0);
    tw_timer_init(NULL, NULL);
    CHECK(unchanged());
    end();
}

static void null_results(void)
{
    begin();
    start('a', 5);
    remember();
    CHECK(!tw_next_deadline(&tw, NULL));
    CHECK(tw_foreach(&tw, NULL, NULL) == 0);
    tw_get_stats(&tw, NULL);
    CHECK(unchanged());
    end();
}

static void full(void)
{
    set_up(1, 0, 0, 2);
    start('a', 5);
    start('b', 6);
    remember();
    CHECK(start('c', 1) == TW_EFULL);
    CHECK(start_within('c', 1, 9) == TW_EFULL);
    CHECK(postpone('c', 1) == TW_EFULL);
    CHECK(unchanged());
    CHECK(state_of('c') == TW_IDLE);
    end();
}

static void full_but_pending_moves(void)
{
    set_up(1, 0, 0, 2);
    start('a', 5);
    start('b', 6);
    CHECK(start('a', 1000) == TW_OK);
    CHECK(start_within('b', 100, 200) == TW_OK);
    CHECK(postpone('b', 20) == TW_OK);
    CHECK(postpone('b', 2000) == TW_OK);
    CHECK(tw_count(&tw) == 2);
    FIRES(2000, "ab");
    end();
}

static void full_no_more(void)
{
    set_up(1, 0, 0, 1);
    start('a', 5);
    CHECK(start('b', 5) == TW_EFULL);
    cancel('a');
    CHECK(start('b', 5) == TW_OK); /* after a cancel */
    CHECK(start('a', 6) == TW_EFULL);
    FIRES(5, "b");
    CHECK(start('a', 6) == TW_OK); /* after firing */
    CHECK(tw_poll(&tw, 6) == timer_of('a'));
    CHECK(start('b', 7) == TW_OK); /* after a poll */
    tw_drain(&tw, NULL, NULL);
    CHECK(start('a', 8) == TW_OK); /* after a drain */
    end();
}

static void full_in_callbacks(void)
{
    set_up(1, 0, 0, 1);
    start('a', 5);
    when_fired('a', act_start_after, 'a', 5);
    FIRES(20, "aaaa"); /* the one that fires makes room for itself */
    CHECK(named('a')->status == TW_OK);
    end();
    set_up(1, 0, 0, 2);
    start('a', 5);
    start('b', 900);
    start('c', 900);
    when_fired('a', act_start, 'c', 100);
    FIRES(200, "ac");
    end();
}

static void full_of_many(void)
{
    set_up(1, 0, 0, 26);
    for (char name = 'a'; name <= 'z'; name++)
        CHECK(start(name, 5) == TW_OK);
    tw_timer extra = TW_TIMER_INIT(NULL);
    CHECK(tw_start(&tw, &extra, 5) == TW_EFULL);
    CHECK(tw_timer_state(&extra) == TW_IDLE);
    end();
}

/* -------------------------------------------------------------------- polls */

static void poll_order(void)
{
    begin();
    start('c', 70000);
    start('a', 10);
    start('b', 10);
    POLLS(69999, "ab");
    POLLS(70000, "c");
    end();
}

static void poll_clock(void)
{
    begin();
    start('a', 10);
    start('b', 30);
    POLLS(50, "ab");
    CHECK(fired_at[0] == 10 && fired_at[1] == 30); /* at the timer's tick */
    CHECK(tw_now(&tw) == 50);                      /* and at now with NULL */
    end();
}

static void poll_calls_nothing(void)
{
    begin();
    start('a', 10);
    clear_log();
    CHECK(tw_poll(&tw, 9) == NULL);
    CHECK(tw_poll(&tw, 10) == timer_of('a'));
    CHECK(fired_count == 0); /* its callback was not called */
    CHECK(state_of('a') == TW_FIRED);
    CHECK(tw_count(&tw) == 0);
    CHECK(stats().fired == 1);
    end();
}

static void poll_and_start_again(void)
{
    begin();
    start('a', 10);
    CHECK(tw_poll(&tw, 100) == timer_of('a'));
    start('a', tw_after(tw_now(&tw), 20));
    CHECK(tw_poll(&tw, 100) == timer_of('a'));
    CHECK(tw_now(&tw) == 30);
    CHECK(tw_poll(&tw, 100) == NULL);
    end();
}

static void poll_overdue(void)
{
    begin_at(50);
    start('b', 7);
    start('a', 3);
    CHECK(tw_poll(&tw, 0) == timer_of('b'));
    CHECK(tw_now(&tw) == 50);
    start('c', 5); /* a call of its own: comes out of the next */
    CHECK(tw_poll(&tw, 0) == timer_of('a'));
    CHECK(tw_poll(&tw, 0) == timer_of('c'));
    CHECK(tw_poll(&tw, 0) == NULL);
    end();
}

static void poll_cancel_between(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 10);
    CHECK(tw_poll(&tw, 10) == timer_of('a'));
    CHECK(cancel('b'));
    CHECK(tw_poll(&tw, 10) == timer_of('c'));
    CHECK(tw_poll(&tw, 10) == NULL);
    end();
}

static void poll_mixed(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 300);
    start('d', 301);
    CHECK(tw_poll(&tw, 400) == timer_of('a'));
    CHECK(tw_wait(&tw, 400, 99) == 0);
    FIRES_AT_MOST(1, 400, "b");
    CHECK(tw_poll(&tw, 400) == timer_of('c'));
    FIRES(400, "d");
    end();
}

static void poll_backwards(void)
{
    begin_at(100);
    start('a', 200);
    CHECK(tw_poll(&tw, 3) == NULL);
    CHECK(tw_now(&tw) == 100);
    POLLS(200, "a");
    end();
}

static void poll_ends_of_time(void)
{
    begin();
    start('a', UINT64_MAX);
    start('b', 0);
    POLLS(UINT64_MAX - 1, "b");
    POLLS(UINT64_MAX, "a");
    end();
}

static void poll_as_advance(void)
{
    static size_t order[2][TICKETS];
    for (int run = 0; run < 2; run++) {
        size_t i = 0;
        random_state = 55;
        set_up(1, 0, 8, 0);
        deal_tickets(2000);
        for (const tw_timer *timer; (timer = tw_poll(&tw, 2000)) != NULL;)
            order[run][i++] = ((const ticket *)timer)->number;
        CHECK(i == TICKETS);
        for (size_t j = 1; j < i; j++)
            CHECK(tw_deadline(&tickets[order[run][j - 1]].timer) <=
                  tw_deadline(&tickets[order[run][j]].timer));
        end();
    }
    CHECK(memcmp(order[0], order[1], sizeof order[0]) == 0);
}

/* Fires all tickets, at every `step` ticks up to `span`, by one call or by
 * polls; tells how many were moved and how many allocations that took. */
static void fire_tickets(uint64_t span, uint64_t step, bool by_polls,
                         uint64_t *cascaded, size_t *calls)
{
    random_state = 77;
    set_up(1, 0, 2, 0);
    deal_tickets(span);
    for (uint64_t now = step; now <= span; now += step)
        if (!by_polls)
            (void)tw_advance_clock(&tw, now);
        else
            while (tw_poll(&tw, now) != NULL)
                ;
    CHECK(stats().fired == TICKETS);
    *cascaded = stats().cascaded;
    *calls = memory.calls;
    end();
}

/* By polls no timer is moved more often than by one call, nor more memory
 * taken: where timers are due far apart, where a bucket is crowded, and where
 * that is moved ahead (only the poll that finds nothing moves ahead). */
static void poll_cost(void)
{
    static const uint64_t spans[] = {60000, 24576, 24576};
    static const uint64_t steps[] = {60000, 24576, 1024};
    for (int i = 0; i < 3; i++) {
        uint64_t cascaded[2];
        size_t calls[2];
        for (int run = 0; run < 2; run++)
            fire_tickets(spans[i], steps[i], run == 1, &cascaded[run],
                         &calls[run]);
        CHECK(cascaded[0] == cascaded[1] && cascaded[0] > 0);
        CHECK(calls[0] == calls[1]);
    }
}

/* -------------------------------------------------------- foreach and drain */

static char visited[64];

static void visit_log(tw_timer *timer, void *context)
{
    char name[2] = {TW_OWNER(timer, probe, timer)->name, '\0'};
    strcat(visited, name);
    ++*(int *)context;
}

static bool visited_all(const char *names)
{
    for (const char *name = names; *name != '\0'; name++)
        if (strchr(visited, *name) == NULL)
            return false;
    return strlen(visited) == strlen(names);
}

/* Timers in three wheels, one that is overdue and one that is postponed. */
static void start_some(void)
{
    static const uint64_t deadlines[] = {1, 60, 300, 300, 70000, 99};
    visited[0] = '\0';
    begin_at(50);
    for (int i = 0; i < 6; i++)
        start((char)('a' + i), deadlines[i]);
    postpone('f', 500);
}

static void foreach_visits_all(void)
{
    int calls = 0;
    start_some();
    remember();
    CHECK(tw_foreach(&tw, visit_log, &calls) == 6);
    CHECK(calls == 6);
    CHECK(visited_all("abcdef"));
    CHECK(unchanged());
    end();
}

/* The first and the last bucket of two wheels, of every size. */
static void foreach_to_the_last_bucket(void)
{
    for (uint64_t size = 2; size <= 4096; size *= 2) {
        int calls = 0;
        visited[0] = '\0';
        set_up(1, 0, (uint32_t)size, 0);
        start('a', size - 1);
        start('b', size);
        start('c', size * size - 1);
        start('d', size * size);
        CHECK(tw_foreach(&tw, visit_log, &calls) == 4);
        CHECK(visited_all("abcd"));
        tw_destroy(&tw);
        for (char name = 'a'; name <= 'd'; name++)
            CHECK(state_of(name) == TW_IDLE);
        CHECK(memory.blocks == 0);
    }
}

static void foreach_of_nothing(void)
{
    int calls = 0;
    begin();
    CHECK(tw_foreach(&tw, visit_log, &calls) == 0);
    CHECK(calls == 0);
    end();
}

static void visit_cancel(tw_timer *timer, void *context)
{
    *(int *)context += tw_cancel(&tw, timer);
}

static void foreach_cancels_all(void)
{
    int cancelled = 0;
    start_some();
    CHECK(tw_foreach(&tw, visit_cancel, &cancelled) == 6);
    CHECK(cancelled == 6);
    CHECK(tw_count(&tw) == 0);
    CHECK(state_of('a') == TW_CANCELLED && state_of('e') == TW_CANCELLED);
    FIRES(100000, "");
    end();
}

static void visit_cancel_odd(tw_timer *timer, void *context)
{
    if (TW_OWNER(timer, probe, timer)->name % 2 != 0)
        visit_cancel(timer, context);
}

static void foreach_cancels_some(void)
{
    int cancelled = 0;
    begin();
    for (char name = 'a'; name <= 'z'; name++)
        start(name, 700);
    CHECK(tw_foreach(&tw, visit_cancel_odd, &cancelled) == 26);
    CHECK(cancelled == 13);
    FIRES(700, "bdfhjlnprtvxz");
    end();
}

/* Tries all that a visitor of tw_foreach must not do. */
static void visit_misbehave(tw_timer *timer, void *context)
{
    int calls = 0;
    CHECK(tw_start(&tw, timer, 10) == TW_EBUSY);
    CHECK(tw_start(&tw, timer_of('z'), 10) == TW_EBUSY);
    CHECK(tw_start_within(&tw, timer_of('z'), 10, 20) == TW_EBUSY);
    CHECK(tw_postpone(&tw, timer_of('z'), 10) == TW_EBUSY);
    CHECK(tw_advance_clock(&tw, 1000000) == 0);
    CHECK(tw_advance_clock_limit(&tw, 1000000, 9) == 0);
    CHECK(tw_poll(&tw, 1000000) == NULL);
    CHECK(tw_foreach(&tw, visit_log, &calls) == 0);
    CHECK(tw_drain(&tw, visit_log, &calls) == 0);
    CHECK(calls == 0);
    tw_trim(&tw);
    tw_destroy(&tw);
    ++*(int *)context;
}

static void foreach_refuses(void)
{
    int calls = 0;
    start_some();
    remember();
    CHECK(tw_foreach(&tw, visit_misbehave, &calls) == 6);
    CHECK(calls == 6);
    CHECK(unchanged());
    CHECK(start('z', 10) == TW_OK); /* and afterwards all is as ever */
    FIRES(60, "azb");
    end();
}

static void visit_reserve(tw_timer *timer, void *context)
{
    (void)timer;
    CHECK(tw_reserve(&tw, 100, UINT64_MAX) == TW_OK);
    ++*(int *)context;
}

static void foreach_may_reserve(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_foreach(&tw, visit_reserve, &calls) == 6);
    CHECK(calls == 6);
    CHECK(stats().wheels == 8);
    end();
}

static void act_foreach(probe *self)
{
    int calls = 0;
    self->status = (int)tw_foreach(&tw, visit_log, &calls);
}

static void foreach_in_a_callback(void)
{
    start_some();
    when_fired('b', act_foreach, 'b', 0);
    FIRES(60, "ab");
    CHECK(named('b')->status == 4);
    CHECK(visited_all("cdef"));
    end();
}

static void drain_takes_all(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_drain(&tw, visit_log, &calls) == 6);
    CHECK(calls == 6);
    CHECK(visited_all("abcdef"));
    CHECK(tw_count(&tw) == 0);
    for (char name = 'a'; name <= 'f'; name++)
        CHECK(state_of(name) == TW_IDLE);
    CHECK(tw_drain(&tw, visit_log, &calls) == 0);
    FIRES(100000, "");
    end();
}

static void drain_without_a_visitor(void)
{
    start_some();
    CHECK(tw_drain(&tw, NULL, NULL) == 6);
    CHECK(tw_count(&tw) == 0);
    CHECK(!tw_next_deadline(&tw, &(uint64_t){0}));
    end();
}

static void visit_idle(tw_timer *timer, void *context)
{
    CHECK(tw_timer_state(timer) == TW_IDLE);
    CHECK(tw_count(&tw) == (size_t)-- * (int *)context);
    CHECK(tw_check(&tw));
}

static void drain_idle_before_visit(void)
{
    int left = 6;
    start_some();
    CHECK(tw_drain(&tw, visit_idle, &left) == 6);
    CHECK(left == 0);
    end();
}

static void visit_start_again(tw_timer *timer, void *context)
{
    ++*(int *)context;
    CHECK(tw_start(&tw, timer, tw_deadline(timer)) == TW_OK);
}

static void drain_and_start_again(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_drain(&tw, visit_start_again, &calls) == 6);
    CHECK(calls == 6); /* none is visited twice */
    CHECK(tw_count(&tw) == 6);
    CHECK(tw_check(&tw));
    clear_log();
    CHECK(tw_advance_clock(&tw, 70000) == 6);
    CHECK(fired[0] == 'a' && fired[1] == 'b' && fired[5] == 'e');
    end();
}

static void visit_free(tw_timer *timer, void *context)
{
    ++*(int *)context;
    free(timer);
}

static void drain_frees(void)
{
    int calls = 0;
    begin();
    for (uint64_t i = 0; i < 100; i++) {
        tw_timer *timer = (tw_timer *)malloc(sizeof *timer);
        tw_timer_init(timer, NULL);
        tw_start(&tw, timer, i * i * 10);
    }
    CHECK(tw_drain(&tw, visit_free, &calls) == 100);
    CHECK(calls == 100);
    end();
}

/* The first that is visited cancels all that are left. */
static void visit_cancel_rest(tw_timer *timer, void *context)
{
    (void)timer;
    ++*(int *)context;
    for (char name = 'a'; name <= 'f'; name++)
        cancel(name);
}

static void drain_visitor_cancels(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_drain(&tw, visit_cancel_rest, &calls) == 1);
    CHECK(calls == 1);
    CHECK(tw_count(&tw) == 0);
    end();
}

static void visit_advance(tw_timer *timer, void *context)
{
    (void)timer;
    ++*(int *)context;
    CHECK(tw_advance_clock(&tw, 1000000) == 0);
    CHECK(tw_poll(&tw, 1000000) == NULL);
    tw_trim(&tw);
    tw_destroy(&tw);
}

static void drain_refuses(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_drain(&tw, visit_advance, &calls) == 6);
    CHECK(calls == 6);
    CHECK(tw_now(&tw) == 50);
    CHECK(start('a', 60) == TW_OK);
    FIRES(60, "a");
    end();
}

static void drain_at_max_pending(void)
{
    int calls = 0;
    set_up(1, 0, 0, 3);
    start('a', 5);
    start('b', 5);
    start('c', 5);
    CHECK(tw_drain(&tw, visit_start_again, &calls) == 3);
    CHECK(tw_count(&tw) == 3);
    CHECK(start('d', 5) == TW_EFULL);
    end();
}

/* -------------------------------------------------------------------- stats */

/* After the last due timer a limited call once still named its tick. */
static void limit_reached_exactly(void)
{
    uint64_t deadline;
    set_up(1, 100, 2, 0);
    start('a', 253);
    start('b', 249);
    CHECK(tw_advance_clock_limit(&tw, 249, 1) == 1);
    CHECK(tw_next_deadline(&tw, &deadline) && deadline == 253);
    CHECK(tw_wait(&tw, 249, 1000) == 4);
    CHECK(tw_now(&tw) == 249);
    end();
}

static void stats_fresh(void)
{
    begin();
    tw_stats s = stats();
    CHECK(s.pending == 0 && s.fired == 0 && s.cascaded == 0);
    CHECK(s.wheels == 0 && s.buckets == 0);
    CHECK(s.bytes_held == 0 && s.bytes_used == 0);
    end();
}

static void stats_count(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 20);
    start('d', 5000);
    tw_stats s = stats();
    CHECK(s.pending == 4);
    CHECK(s.buckets == 3);
    CHECK(s.wheels == 2);
    FIRES(20, "abc");
    s = stats();
    CHECK(s.pending == 1 && s.fired == 3 && s.buckets == 1);
    end();
}

static void stats_cascaded(void)
{
    static tw_timer crowd[3000];
    begin();
    for (size_t i = 0; i < 3000; i++) /* all in one bucket */
        CHECK(tw_start(&tw, &crowd[i], 900 + i % 100) == TW_OK);
    CHECK(stats().buckets == 1);
    CHECK(tw_advance_clock(&tw, 900) == 30);
    CHECK(stats().cascaded >= 2970 && stats().cascaded <= 3000);
    CHECK(stats().buckets == 99);
    CHECK(stats().wheels == 2);
    end();
}

static void stats_bytes(void)
{
    begin();
    random_state = 21;
    deal_tickets(60000);
    tw_stats s = stats();
    CHECK(s.bytes_held == memory.bytes); /* as TW_MALLOC saw it */
    CHECK(s.bytes_used > 0 && s.bytes_used <= s.bytes_held);
    CHECK(tw_advance_clock(&tw, 60000) == TICKETS);
    CHECK(stats().bytes_used < s.bytes_used);
    CHECK(stats().bytes_held == memory.bytes);
    CHECK(tw_reserve(&tw, 2 * TICKETS, 1000) == TW_OK);
    CHECK(stats().bytes_held == memory.bytes);
    tw_trim(&tw);
    CHECK(stats().bytes_held == memory.bytes);
    end();
}

static void stats_of_a_poll(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    POLLS(10, "ab");
    CHECK(stats().fired == 2);
    end();
}

static void stats_ignore_cancels(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    cancel('a');
    tw_drain(&tw, NULL, NULL);
    CHECK(stats().fired == 0 && stats().pending == 0);
    end();
}

/* ----------------------------------------------------------------- periodic */

static void next_period_table(void)
{
    static const struct {
        uint64_t previous, period, now, expected, missed;
    } rows[] = {
        {10, 5, 10, 15, 0},
        {10, 5, 14, 15, 0},
        {10, 5, 15, 20, 1},
        {10, 5, 16, 20, 1},
        {10, 5, 3, 15, 0}, /* now is behind: still one period on */
        {0, 5, 0, 5, 0},
        {122, 100, 250, 322, 1},
        {0, 1, 1000, 1001, 1000},
        {10, 0, 10, 11, 0}, /* period 0 acts as 1 */
        {5, 0, 7, 8, 2},
        {0, 10, UINT64_MAX, UINT64_MAX, UINT64_MAX / 10},
        {0, 1, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 1},
        {0, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {UINT64_MAX - 3, 10, UINT64_MAX - 3, UINT64_MAX, 0},
        {UINT64_MAX, 1, 0, UINT64_MAX, 0},
        {5, UINT64_MAX, 6, UINT64_MAX, 0},
        {0, UINT64_MAX, 0, UINT64_MAX, 0},
        {0, UINT64_C(1) << 63, 7, UINT64_C(1) << 63, 0},
        {UINT64_C(1) << 63, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t missed = 12345;
        CHECK(tw_next_period(rows[i].previous, rows[i].period, rows[i].now,
                             &missed) == rows[i].expected);
        CHECK(missed == rows[i].missed);
    }
}

static void next_period_without_missed(void)
{
    CHECK(tw_next_period(10, 5, 12, NULL) == 15);
    CHECK(tw_next_period(10, 5, 28, NULL) == 30);
}

static void next_period_keeps_phase(void)
{
    random_state = 8;
    for (int i = 0; i < 10000; i++) {
        uint64_t previous = random_below(UINT64_C(1) << 40), missed;
        uint64_t period = 1 + random_below(UINT64_C(1) << random_below(40));
        uint64_t now = previous + random_below(UINT64_C(1) << 42);
        uint64_t at = tw_next_period(previous, period, now, &missed);
        CHECK(at > now && at - now <= period);
        CHECK((at - previous) % period == 0);
        CHECK(missed == (at - previous) / period - 1);
    }
}

static uint64_t missed_in_all;

static void act_burst(probe *self)
{
    tw_timer *timer = &self->timer;
    tw_start(&tw, timer, tw_after(tw_deadline(timer), self->value));
}

static void act_skip(probe *self)
{
    tw_timer *timer = &self->timer;
    uint64_t missed, now = self->other->value; /* what the loop has read */
    tw_start(&tw, timer,
             tw_next_period(tw_deadline(timer), self->value, now, &missed));
    missed_in_all += missed;
}

static void periodic_burst(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_burst, 'a', 10);
    FIRES(45, "aaaa");
    for (size_t i = 0; i < 4; i++)
        CHECK(fired_at[i] == 10 * (i + 1));
    CHECK(next() == 50);
    end();
}

static void act_delay(probe *self)
{
    tw_start(&tw, &self->timer, tw_after(self->other->value, self->value));
}

static void periodic_delay(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_delay, 'z', 10);
    named('z')->value = 45; /* the reading */
    FIRES(45, "a");         /* once, and 10 from then on */
    CHECK(next() == 55);
    end();
}

static void periodic_skip(void)
{
    begin();
    missed_in_all = 0;
    start('a', 10);
    when_fired('a', act_skip, 'z', 10);
    named('z')->value = 45;
    FIRES(45, "a"); /* 20, 30 and 40 are skipped; the phase is kept */
    CHECK(next() == 50);
    CHECK(missed_in_all == 3);
    end();
}

static void periodic_skip_long(void)
{
    begin();
    missed_in_all = 0;
    start('a', 10);
    when_fired('a', act_skip, 'z', 10);
    named('z')->value = UINT64_C(1) << 60;
    FIRES(UINT64_C(1) << 60, "a"); /* once, after any absence */
    CHECK(missed_in_all == ((UINT64_C(1) << 60) - 10) / 10);
    end();
}

static void periodic_no_drift(void)
{
    begin();
    random_state = 17;
    start('a', 100);
    when_fired('a', act_burst, 'a', 100);
    uint64_t now = 0;
    for (int i = 0; i < 5000; i++) {
        now += random_below(130); /* a loop that wakes when it likes */
        clear_log();
        tw_advance_clock(&tw, now);
        for (size_t j = 0; j < fired_count; j++)
            CHECK(fired_at[j] % 100 == 0);
    }
    CHECK(stats().fired == now / 100);
    end();
}

static void periodic_every_period(void)
{
    for (uint64_t period = 1; period <= 3 * 16; period++) {
        set_up(1, 0, 4, 0);
        start('a', period);
        when_fired('a', act_burst, 'a', period);
        clear_log();
        CHECK(tw_advance_clock(&tw, 20 * period) == 20);
        for (size_t i = 0; i < 20; i++)
            CHECK(fired_at[i] == (i + 1) * period);
        end();
    }
}

static void periodic_to_the_end(void)
{
    begin_at(UINT64_MAX - 25);
    start('a', UINT64_MAX - 20);
    when_fired('a', act_burst, 'a', 9);
    FIRES(UINT64_MAX - 1, "aaa"); /* at -20, -11 and -2 */
    FIRES(UINT64_MAX, "a");       /* saturated */
    FIRES(UINT64_MAX, "a");       /* and then once a call */
    end();
}

/* ------------------------------------------------- the same for every wheel */

/* A busy trace; returns a number that depends on all that fired when. */
static uint64_t trace_hash(uint32_t size)
{
    uint64_t hash = 14695981039346656037U;
    random_state = 4242;
    set_up(1, 0, size, 0);
    for (int step = 0; step < 20000; step++) {
        char name = (char)('a' + random_below(26));
        uint64_t span = UINT64_C(1) << random_below(14);
        uint64_t deadline = tw_now(&tw) + 1 + random_below(span);
        if (random_below(3) == 0)
            cancel(name);
        else
            start(name, deadline);
        if (random_below(4) != 0)
            continue;
        clear_log();
        tw_advance_clock(&tw, tw_now(&tw) + random_below(200));
        for (size_t i = 0; i < fired_count; i++)
            hash =
                (hash ^ (uint64_t)fired[i] ^ fired_at[i] << 8) * 1099511628211U;
    }
    end();
    return hash;
}

static void same_for_every_wheel_size(void)
{
    uint64_t expected = trace_hash(2);
    for (uint32_t size = 4; size <= 4096; size *= 2)
        CHECK(trace_hash(size) == expected);
}

/* ----------------------------------------------------------------- tw_dump */

static char drawing[8192];
static size_t drawn_lines, longest_line;

static void draw(const char *line, void *context)
{
    size_t length = strlen(line);
    CHECK(context == drawing);
    drawn_lines++;
    longest_line = length > longest_line ? length : longest_line;
    if (CHECK(strlen(drawing) + length + 2 < sizeof drawing))
        strcat(strcat(drawing, line), "\n");
}

/* Draws a wheel, and leaves out what its memory takes, which differs between
 * machines: that is the last line, and compared here. */
static const char *drawing_of(const timingwheel *wheel)
{
    char expected[101];
    tw_stats now;
    drawing[0] = '\0';
    drawn_lines = longest_line = 0;
    size_t calls = memory.calls;
    tw_dump(wheel, draw, drawing);
    CHECK(memory.calls == calls);
    char *last = strstr(drawing, "memory: ");
    if (last != NULL) {
        tw_get_stats(wheel, &now);
        snprintf(expected, sizeof expected,
                 "memory: %zu bytes, %zu used; %zu buckets\n", now.bytes_held,
                 now.bytes_used, now.buckets);
        CHECK(strcmp(last, expected) == 0);
        *last = '\0';
    }
    return drawing;
}

/* As drawn, so that a failure shows it. */
static bool draws(const timingwheel *wheel, const char *expected)
{
    if (strcmp(drawing_of(wheel), expected) == 0)
        return true;
    for (const char *at = drawing; *at != '\0'; at += strcspn(at, "\n") + 1)
        printf("# %.*s\n", (int)strcspn(at, "\n"), at);
    return false;
}

static void dump_of_nothing(void)
{
    begin();
    CHECK(draws(&tw, "clock: 0 (tick 0, of 1 time units)\n"
                     "0 pending, 0 fired, 0 cascaded\n"
                     "in no wheel: 0, overdue or postponed\n"));
    end();
}

static void dump_of_no_wheel(void)
{
    begin();
    end();
    CHECK(draws(&tw, "no wheel: NULL, or destroyed\n"));
    CHECK(draws(NULL, "no wheel: NULL, or destroyed\n"));
    begin();
    tw_dump(&tw, NULL, drawing); /* nobody to tell */
    tw_dump(NULL, NULL, NULL);
    end();
}

/* Ticks of 10 on wheels of 4; the clock stands within one. The queue is in
 * order of its ticks: where two are the same, the coarser wheel comes first. */
static void dump_of_wheels(void)
{
    set_up(10, 57, 4, 0);
    start('a', 60);
    start('b', 75);
    start('c', 80);
    start('d', 180);
    start('e', 180);
    start('f', 700);
    CHECK(draws(&tw, "clock: 57 (tick 5, of 10 time units)\n"
                     "6 pending, 0 fired, 0 cascaded\n"
                     "wheel 0: step 1, ticks 5 to 12\n"
                     "[.1.2....] holds 3\n"
                     "wheel 1: step 4, ticks 4 to 35\n"
                     "[...2....] holds 2\n"
                     "wheel 2: step 16, ticks 0 to 127\n"
                     "[....1...] holds 1\n"
                     "queue: wheel 0 at tick 6\n"
                     "queue: wheel 1 at tick 18\n"
                     "queue: wheel 2 at tick 70\n"
                     "in no wheel: 0, overdue or postponed\n"));
    FIRES(170, "abc");
    start('g', 180);
    CHECK(draws(&tw, "clock: 170 (tick 17, of 10 time units)\n"
                     "4 pending, 3 fired, 0 cascaded\n"
                     "wheel 0: step 1, ticks 17 to 24\n"
                     "[.1......] holds 1\n"
                     "wheel 1: step 4, ticks 16 to 47\n"
                     "[2.......] holds 2\n"
                     "wheel 2: step 16, ticks 16 to 143\n"
                     "[...1....] holds 1\n"
                     "queue: wheel 1 at tick 18\n"
                     "queue: wheel 0 at tick 18\n"
                     "queue: wheel 2 at tick 70\n"
                     "in no wheel: 0, overdue or postponed\n"));
    tw_drain(&tw, NULL, NULL);
    end();
}

/* One to ten, 99 and 100 timers in a place; 512 buckets in 64 places, of which
 * the clock's own is the first. */
static void dump_of_crowds(void)
{
    static tw_timer crowd[9 + 10 + 99 + 100];
    static const unsigned many[] = {9, 10, 99, 100};
    size_t next = 0;
    begin_at(1000);
    for (unsigned place = 0; place < 4; place++)
        for (unsigned i = 0; i < many[place]; i++) {
            tw_timer_init(&crowd[next], NULL);
            tw_start(&tw, &crowd[next++], 1000 + 16 * place + 1 + i % 3);
        }
    CHECK(draws(&tw, "clock: 1000 (tick 1000, of 1 time units)\n"
                     "218 pending, 0 fired, 0 cascaded\n"
                     "wheel 0: step 1, ticks 1000 to 1511\n"
                     "[9.+.+.#..............................................."
                     "..........] holds 218\n"
                     "queue: wheel 0 at tick 1001\n"
                     "in no wheel: 0, overdue or postponed\n"));
    tw_cancel(&tw, &crowd[0]); /* a dead slot is no timer */
    CHECK(strstr(drawing_of(&tw), "[8.+.+.#.") != NULL);
    tw_drain(&tw, NULL, NULL);
    end();
}

static void dump_of_overdue(void)
{
    begin_at(100);
    start('a', 1);
    start('b', 2);
    CHECK(draws(&tw, "clock: 100 (tick 100, of 1 time units)\n"
                     "2 pending, 0 fired, 0 cascaded\n"
                     "in no wheel: 2, overdue or postponed\n"));
    FIRES_AT_MOST(1, 100, "a");
    CHECK(strstr(drawing_of(&tw), "in no wheel: 1,") != NULL);
    FIRES(100, "b");
    end();
}

/* No line is above 100 columns with the longest ticks and clocks; and the last
 * wheel's window ends with the 64 bits. */
static void dump_at_the_end_of_time(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2) {
        set_up(1, UINT64_MAX - 1, size, 0);
        start('a', UINT64_MAX);
        CHECK(strstr(drawing_of(&tw), "to 18446744073709551615\n[") != NULL);
        CHECK(longest_line <= 100);
        end();
        set_up(1, 0, size, 0);
        for (unsigned i = 0; i < 26; i++)
            start((char)('a' + i), UINT64_MAX >> (i * 5 / 2));
        CHECK(strstr(drawing_of(&tw), "to 18446744073709551615\n[") != NULL);
        CHECK(longest_line <= 100);
        CHECK(drawn_lines == 2 + 3 * stats().wheels + 2);
        end();
    }
}

static void act_dump(probe *self)
{
    self->status = strstr(drawing_of(&tw), "clock: 10 ") != NULL &&
                   strstr(drawing, "\n1 pending, 1 fired") != NULL;
}

static void visit_dump(tw_timer *timer, void *context)
{
    (void)timer;
    *(bool *)context = strstr(drawing_of(&tw), "\n1 pending") != NULL;
}

static void dump_from_inside(void)
{
    bool seen = false;
    begin();
    start('a', 10);
    start('b', 20);
    when_fired('a', act_dump, 'a', 0);
    FIRES(10, "a");
    CHECK(named('a')->status == 1);
    CHECK(tw_foreach(&tw, visit_dump, &seen) == 1 && seen);
    end();
}

static const tap_case cases[] = {
    {"tw_timer: no more than 32 bytes, 24 where pointers have 8", timer_size},
    {"version: three integers", version},
    {"tw_init: NULL means the defaults", init_defaults},
    {"tw_init: a config of zeros means the defaults", init_zero_config},
    {"tw_init: the clock begins at start", init_start},
    {"tw_init: a start ahead of the clock: what is up to it has passed",
     init_start_ahead},
    {"tw_init: whatever the memory held before", init_overwrites},
    {"tw_init: allocates nothing", init_allocates_nothing},
    {"tw_init: every power of two from 2 to 4096 is a wheel size",
     init_wheel_sizes},
    {"tw_init: alloc_context is handed on", alloc_context_is_handed_on},
    {"tw_destroy: pending timers become idle", destroy_makes_idle},
    {"tw_destroy: twice is harmless", destroy_twice},
    {"tw_destroy: nothing can be started or reserved", destroyed_takes_nothing},
    {"tw_destroy: tw_init makes it usable again", destroy_then_init},
    {"tw_destroy: leaves fired and cancelled timers alone",
     destroy_leaves_fired_and_cancelled},
    {"tw_timer: {0} is a valid idle one", timer_zero_is_idle},
    {"tw_timer: TW_TIMER_INIT makes an idle one", timer_initialiser},
    {"tw_timer: TW_OWNER finds the struct that it lies in", timer_owner},
    {"tw_timer_init: makes a fired timer idle", timer_init_again},
    {"tw_timer_state: idle, pending, cancelled, fired, drained",
     states_in_turn},
    {"tw_deadline: as it was asked for, not rounded", deadline_as_asked},
    {"tw_deadline: follows a start in a callback", deadline_in_callback},
    {"tw_count: follows start, cancel, fire and drain", count_follows},
    {"tw_cancel: true if it was pending, else no effect", cancel_answers},
    {"tw_cancel: a cancelled timer never fires", cancelled_never_fires},
    {"tw_cancel: at every place of a bucket", cancel_each_place},
    {"tw_cancel: all but one of a bucket", cancel_all_but_one},
    {"tw_start: a pending timer is moved and counts once", start_pending_moves},
    {"tw_now: exactly what was handed in", now_is_exact},
    {"timingwheel: two of them share nothing", wheels_are_independent},
    {"tw_strerror: a sentence for each status", strerror_sentences},
    {"tw_strerror: something for what is no status", strerror_unknown},
    {"tw_status: refusals are negative", status_values},
    {"promise 1: with tick 1 a timer fires at its deadline", exact_tick_one},
    {"promise 1: a deadline inside a tick is rounded up", rounded_up},
    {"promise 1: a deadline on a tick is not", on_a_tick},
    {"promise 1: a clock inside a tick is rounded down", clock_inside_a_tick},
    {"promise 1: a deadline equal to the clock", deadline_is_the_clock},
    {"promise 1: every phase of a tick and every delay", every_phase_and_delay},
    {"promise 1: ticks up to 2^63 - 1", big_ticks},
    {"promise 1: around every wheel's span, for every wheel size",
     around_every_span},
    {"promise 1: every tick of three turns from every phase",
     each_tick_of_three_turns},
    {"promise 1: walked tick by tick", walked_tick_by_tick},
    {"promise 1: a timer fires once", fires_once},
    {"promise 1: random ticks, clocks, wheels and deadlines",
     never_early_random},
    {"promise 2: an empty wheel jumps 100,000 times", empty_jumps},
    {"promise 2: a jump of 2^63", jump_of_two_to_63},
    {"promise 2: a quiet span moves and allocates nothing",
     quiet_span_moves_nothing},
    {"promise 2: a lone timer an hour away takes one wake-up", lone_far_timer},
    {"promise 2: a short timer after an idle time is placed as a short one",
     short_after_idle},
    {"promise 3: a callback sees the tick of its timer", callback_clock},
    {"promise 3: in time units, a multiple of tick", callback_clock_on_ticks},
    {"promise 3: started up to the target, fires within the call",
     started_up_to_target},
    {"promise 3: started at the very target", started_at_target},
    {"promise 3: started beyond the target, fires later",
     started_beyond_target},
    {"promise 3: started for a tick that others wait for, fires behind them",
     started_behind_its_equals},
    {"promise 5: started for the firing tick beside a finer bucket of it",
     started_beside_its_equals},
    {"promise 3: started in a coarse wheel", started_in_a_far_wheel},
    {"promise 3: a chain of a thousand within one call", chain_within_one_call},
    {"promise 3: a chain across buckets and wheels", chain_with_big_steps},
    {"promise 4: tw_after adds", after_adds},
    {"promise 4: tw_after saturates", after_saturates},
    {"promise 4: a delay is measured from the time just read",
     delay_from_a_stale_clock},
    {"promise 4: tw_now is a turn old, and its delays too short",
     delay_from_before_the_sleep},
    {"promise 4: an endless delay stays pending", endless_delay_stays},
    {"promise 5: overdue fires in the next call, whatever its argument",
     overdue_fires_next},
    {"promise 5: the callback of an overdue timer sees the clock unmoved",
     overdue_clock_is_unmoved},
    {"promise 5: an overdue start moves no clock", overdue_moves_no_clock},
    {"promise 5: started overdue in a callback, fires in the next call",
     overdue_from_callback},
    {"promise 5: the callback's own clock counts as passed",
     overdue_at_the_callbacks_clock},
    {"promise 5: re-armed for now, fires once a call", rearmed_for_now},
    {"promise 5: until nothing fires, what is re-armed for now as well",
     until_nothing_fires},
    {"promise 5: overdue, started by an overdue callback",
     overdue_from_an_overdue_callback},
    {"promise 5: an overdue timer can be cancelled", overdue_cancelled},
    {"promise 5: an overdue timer can be postponed", overdue_postponed},
    {"promise 5: an overdue timer that is postponed is started",
     overdue_postponed_is_started},
    {"promise 5: started overdue in a callback and postponed into the call",
     deferred_and_postponed},
    {"promise 5: the same at the limit of a limited call",
     deferred_and_postponed_at_limit},
    {"promise 5: what a callback deferred comes before what is started later",
     deferred_comes_first},
    {"promise 5: an overdue timer can be started again", overdue_started_again},
    {"promise 5: started overdue in a callback and cancelled by another",
     overdue_from_callback_cancelled},
    {"promise 5: what a tick has passed is decided by whole ticks",
     overdue_every_tick},
    {"promise 6: backwards fires nothing and leaves the clock",
     backwards_fires_nothing},
    {"promise 6: backwards fires what is owed", backwards_fires_what_is_owed},
    {"promise 6: backwards by 2^63 and more", backwards_by_half_of_time},
    {"promise 6: backwards and on again", backwards_after_a_jump},
    {"promise 6: backwards within a tick", backwards_within_a_tick},
    {"promise 6: tw_wait counts from a reading behind the clock",
     backwards_wait},
    {"promise 7: starts near 0, 2^31, 2^32, 2^63 and 2^64, all delays 2^k",
     from_every_start},
    {"promise 7: the deadline 2^64 - 1 is no special value", the_last_moment},
    {"promise 7: started when the clock is at its end", at_the_end_of_time},
    {"promise 7: a timer at every power of two", every_power_of_two},
    {"promise 7: wheels of 2 reach all of 64 bits",
     smallest_wheels_reach_everything},
    {"promise 7: a tick that the clock cannot reach stays pending",
     unreachable_tick},
    {"promise 7: a tick that the clock cannot reach wakes nobody",
     unreachable_wakes_nobody},
    {"promise 7: an unreachable timer does not make a loop spin",
     unreachable_wait},
    {"promise 7: an unreachable timer can be cancelled, moved and drained",
     unreachable_can_be_taken_out},
    {"promise 7: ticks that do not divide 2^64", ticks_that_do_not_divide},
    {"promise 7: a tick of 2^63 - 1", tick_of_three},
    {"promise 7: the longest ticks", longest_ticks},
    {"promise 7: one jump over all of time fires all in order",
     one_jump_over_all_of_time},
    {"promise 8: start order within a tick", start_order_in_a_tick},
    {"promise 8: within a tick not the order of deadlines",
     tick_order_before_deadlines},
    {"promise 8: a few in one bucket, of several ticks", order_within_a_bucket},
    {"promise 8: started far away and near, in different wheels",
     order_across_wheels},
    {"promise 8: through four wheels", order_across_four_wheels},
    {"promise 8: cascading does not overtake",
     order_when_cascading_past_others},
    {"promise 8: started again counts as started now",
     started_again_counts_as_now},
    {"promise 8: overdue timers in the order of their starts",
     overdue_in_start_order},
    {"promise 8: overdue timers before due ones", overdue_before_due},
    {"promise 8: overdue timers beside those that a limit has left",
     overdue_beside_what_is_left},
    {"promise 8: overdue, postponed by another", overdue_postponed_by_another},
    {"promise 8: overdue from callbacks and from outside together",
     overdue_from_two_calls},
    {"promise 8: thousands, for several wheel sizes", order_of_many},
    {"promise 8: up to thousands in one bucket", order_of_many_in_a_bucket},
    {"promise 8: thousands, started while the clock moves",
     order_of_many_while_moving},
    {"promise 8: thousands, by limited calls", order_of_many_by_limit},
    {"promise 8: thousands, a third cancelled", order_of_many_with_holes},
    {"promise 8: thousands, all overdue", order_of_many_overdue},
    {"promise 9: nothing pending, and the result left alone", next_of_nothing},
    {"promise 9: exact after each start", next_follows_starts},
    {"promise 9: exact after each firing", next_follows_firing},
    {"promise 9: rounded up to a tick", next_is_rounded},
    {"promise 9: of an overdue timer", next_of_overdue},
    {"promise 9: of what is left of several overdue", next_of_overdue_left},
    {"promise 9: a later timer in a finer wheel hides nothing",
     next_hides_nothing},
    {"promise 9: after a cancel, at most one call for nothing",
     stale_after_cancel},
    {"promise 9: after a postponement, at most one call for nothing",
     stale_after_postpone},
    {"promise 9: after a start anew, at most one call for nothing",
     stale_after_restart},
    {"promise 9: wakes once for an emptied bucket", once_for_an_emptied_bucket},
    {"promise 9: exact when a later timer of the bucket leaves",
     exact_if_a_later_one_leaves},
    {"promise 9: never late in random use", never_later_than_due},
    {"promise 9: as many wake-ups as distinct ticks", a_wake_up_per_tick},
    {"promise 9: requests wake the loop at most once a time-out's length",
     a_wake_up_per_time_out},
    {"promise 9: wake-ups for nothing at most one a postponed timer",
     idle_wake_ups_are_few},
    {"promise 10: table of clocks and longest waits", wait_table},
    {"promise 10: longest if nothing is pending", wait_for_nothing},
    {"promise 10: for ever if nothing is pending, and only then",
     wait_for_ever},
    {"promise 10: until the tick begins", wait_by_ticks},
    {"promise 10: above 0 when all that was due has fired",
     wait_after_all_fired},
    {"promise 10: sleeping for it is exactly enough", wait_is_long_enough},
    {"promise 11: postponing to later is one store", postpone_is_one_store},
    {"promise 11: postponing to the same time changes nothing",
     postpone_to_the_same},
    {"promise 11: postponing to earlier starts again", postpone_earlier},
    {"promise 11: postponing into the past", postpone_into_the_past},
    {"promise 11: postponing starts what is not pending", postpone_starts},
    {"promise 11: postponed, then less so", postpone_there_and_back},
    {"promise 11: postponed to the end of time", postpone_for_ever},
    {"promise 11: postponed 10,000 times, moved once a bucket",
     postpone_at_every_packet},
    {"promise 11: postponed within its tick", postpone_within_its_tick},
    {"promise 11: postponed by each power of two", postpone_over_every_wheel},
    {"promise 11: postponed behind another of its bucket",
     postpone_behind_another},
    {"promise 11: postponed in a bucket, not the next one",
     postpone_behind_the_next},
    {"promise 11: half of a bucket postponed", postpone_many_of_a_bucket},
    {"promise 11: cancel and start again take no memory",
     no_allocation_once_warm},
    {"tw_start_within: promise 12: the roundest tick of the window",
     roundest_tick},
    {"tw_start_within: promise 12: no tick in the window acts like tw_start",
     window_without_a_tick},
    {"tw_start_within: promise 12: latest before earliest is refused",
     window_reversed},
    {"tw_start_within: promise 12: a window that has passed",
     window_in_the_past},
    {"tw_start_within: promise 12: a window around the clock",
     window_around_the_clock},
    {"tw_start_within: promise 12: a window beyond the last tick",
     window_beyond_the_last_tick},
    {"tw_start_within: promise 12: a pending timer is moved",
     window_moves_a_pending_timer},
    {"tw_start_within: promise 12: windows share a wake-up",
     windows_share_a_wake_up},
    {"tw_start_within: promise 12: never outside of its window",
     window_is_kept},
    {"promise 13: limit 0 does nothing", limit_zero},
    {"promise 13: one by one, and tw_wait 0 in between", limit_one_by_one},
    {"promise 13: as many as are due", limit_met_exactly},
    {"promise 13: what is left at the clock fires in any next call",
     limit_leaves_the_rest_due},
    {"promise 13: a call without limit takes the rest", limit_then_no_limit},
    {"promise 13: overdue timers", limit_of_overdue},
    {"promise 13: a start between two calls finds its place",
     limit_and_a_new_start},
    {"promise 13: cancelled and postponed between two calls", limit_and_cancel},
    {"promise 13: what a callback starts counts too", limit_and_a_callback},
    {"promise 13: fired and cascaded together never exceed it", limit_is_kept},
    {"promise 13: the largest limit", limit_huge},
    {"promise 13: left over, then backwards", limit_backwards},
    {"promise 14: no block per timer", never_one_block_a_timer},
    {"promise 14: cancel and postpone allocate nothing",
     cancel_allocates_nothing},
    {"promise 14: nothing is allocated after tw_reserve",
     reserve_then_no_malloc},
    {"promise 14: to reserve what is there takes nothing",
     reserve_again_is_free},
    {"promise 14: reserve for one more before each start",
     reserve_as_they_grow},
    {"promise 14: reserve up to the end of time", reserve_all_of_time},
    {"promise 14: tw_reserve changes no timer", reserve_changes_no_timer},
    {"promise 14: tw_trim gives everything back", trim_gives_everything_back},
    {"promise 14: tw_trim spares timers", trim_spares_timers},
    {"promise 14: tw_trim of a reserve, and of nothing", trim_of_nothing},
    {"promise 15: without memory a start changes nothing",
     start_without_memory},
    {"promise 15: without memory a pending timer stays as it was",
     restart_without_memory},
    {"promise 15: postponing to later needs no memory",
     postponing_needs_no_memory},
    {"promise 14: reserved one by one, as cheap as at once",
     reserved_one_by_one},
#if UINTPTR_MAX > UINT32_MAX
    {"memory of one timer, of a hundred, of a million", memory_of_few_and_many},
#endif
    {"promise 15: overdue timers postponed without memory stay owed",
     overdue_postponed_without_memory},
    {"promise 15: postponed in a sorted bucket, without memory",
     sorted_postponed_without_memory},
    {"promise 15: stuck timers that a poll has left fire before overdue ones",
     overdue_beside_stuck},
    {"promise 15: more than there can be is refused at once",
     too_many_to_reserve},
    {"callbacks: a timer is not pending while its callback runs",
     cb_not_pending},
    {"callbacks: the one that fires is not counted", cb_count},
    {"callbacks: start the timer that fired", cb_restarts_itself},
    {"callbacks: postpone the timer that fired", cb_postpones_itself},
    {"callbacks: cancel the timer that fired", cb_cancels_itself},
    {"callbacks: cancel one due in the same tick", cb_cancels_same_tick},
    {"callbacks: cancel the last of the bucket", cb_cancels_the_last},
    {"callbacks: cancel one of a later tick", cb_cancels_a_later_tick},
    {"callbacks: cancel one that has fired", cb_cancels_what_has_fired},
    {"callbacks: cancel, every pair of a bucket", cb_cancels_every_pair},
    {"callbacks: start anew, every pair of a bucket", cb_moves_every_pair},
    {"callbacks: postpone one due in the same tick", cb_postpones_same_tick},
    {"callbacks: postpone to a time within the call",
     cb_postpones_into_this_call},
    {"callbacks: postpone one of the same tick to where it is",
     cb_postpones_to_the_same},
    {"callbacks: start one of the same tick for now",
     cb_restarts_same_tick_for_now},
    {"callbacks: pull a later timer forward", cb_pulls_a_later_one_forward},
    {"callbacks: two that start each other", cb_pings_and_pongs},
    {"callbacks: tw_advance_clock is refused", cb_advance_refused},
    {"callbacks: tw_advance_clock_limit is refused", cb_limit_refused},
    {"callbacks: tw_poll is refused", cb_poll_refused},
    {"callbacks: tw_destroy is refused", cb_destroy_refused},
    {"callbacks: tw_trim is refused", cb_trim_refused},
    {"callbacks: drain the wheel", cb_drains},
    {"callbacks: drain the wheel and start a timer", cb_drains_and_starts},
    {"callbacks: drain what is overdue", cb_drains_overdue},
    {"callbacks: free the timer that fired", cb_frees_its_timer},
    {"callbacks: cancel another and free it", cb_frees_another},
    {"callbacks: none is needed", cb_none},
    {"callbacks: may advance another wheel", cb_advances_another_wheel},
    {"callbacks: may ask for the next deadline", cb_asks_for_the_next},
    {"callbacks: may reserve", cb_reserves},
    {"refusal: wheel sizes that are no power of two from 2 to 4096",
     bad_wheel_sizes},
    {"refusal: NULL for the wheel", null_wheel},
    {"refusal: NULL for the timer", null_timer},
    {"refusal: NULL for a result or a visitor", null_results},
    {"refusal: max_pending is TW_EFULL and changes nothing", full},
    {"refusal: at max_pending a pending timer can be moved",
     full_but_pending_moves},
    {"refusal: cancel, fire, poll and drain make room", full_no_more},
    {"refusal: max_pending and callbacks", full_in_callbacks},
    {"refusal: max_pending of 26", full_of_many},
    {"tw_poll: in order", poll_order},
    {"tw_poll: the clock is at the timer's tick, then at now", poll_clock},
    {"tw_poll: calls no callback", poll_calls_nothing},
    {"tw_poll: start again between two polls", poll_and_start_again},
    {"tw_poll: overdue timers", poll_overdue},
    {"tw_poll: cancel between two polls", poll_cancel_between},
    {"tw_poll: mixed with tw_advance_clock", poll_mixed},
    {"tw_poll: backwards", poll_backwards},
    {"tw_poll: to the end of time", poll_ends_of_time},
    {"tw_poll: thousands", poll_as_advance},
    {"tw_poll: moves as few timers as tw_advance_clock", poll_cost},
    {"tw_foreach: visits every pending timer once", foreach_visits_all},
    {"tw_foreach: from the first bucket to the last",
     foreach_to_the_last_bucket},
    {"tw_foreach: of nothing", foreach_of_nothing},
    {"tw_foreach: a visitor may cancel its timer", foreach_cancels_all},
    {"tw_foreach: a visitor cancels every other timer", foreach_cancels_some},
    {"tw_foreach: starting is TW_EBUSY, and the rest refused", foreach_refuses},
    {"tw_foreach: a visitor may reserve", foreach_may_reserve},
    {"tw_foreach: in a callback", foreach_in_a_callback},
    {"tw_drain: takes every timer out", drain_takes_all},
    {"tw_drain: without a visitor", drain_without_a_visitor},
    {"tw_drain: idle before it is visited", drain_idle_before_visit},
    {"tw_drain: a visitor may start its timer, which is not visited twice",
     drain_and_start_again},
    {"tw_drain: a visitor may free its timer", drain_frees},
    {"tw_drain: a visitor may cancel the others", drain_visitor_cancels},
    {"tw_drain: a visitor may not advance, poll, trim or destroy",
     drain_refuses},
    {"tw_drain: makes room below max_pending", drain_at_max_pending},
    {"promise 13: nothing is left, so the next deadline is the next timer's",
     limit_reached_exactly},
    {"tw_get_stats: nothing at first", stats_fresh},
    {"tw_get_stats: timers, buckets and wheels", stats_count},
    {"tw_get_stats: cascaded timers", stats_cascaded},
    {"tw_get_stats: bytes held are those got from TW_MALLOC", stats_bytes},
    {"tw_get_stats: a polled timer has fired", stats_of_a_poll},
    {"tw_get_stats: cancelled and drained ones have not", stats_ignore_cancels},
    {"tw_dump: nothing at first", dump_of_nothing},
    {"tw_dump: of NULL, of what was destroyed, and to nobody",
     dump_of_no_wheel},
    {"tw_dump: wheels from the clock's own bucket on, the queue in order",
     dump_of_wheels},
    {"tw_dump: how full the buckets are", dump_of_crowds},
    {"tw_dump: overdue timers", dump_of_overdue},
    {"tw_dump: up to 100 columns, to the end of time", dump_at_the_end_of_time},
    {"tw_dump: in a callback and in a visitor", dump_from_inside},
    {"periodic: table of tw_next_period", next_period_table},
    {"periodic: missed may be NULL", next_period_without_missed},
    {"periodic: tw_next_period keeps the phase", next_period_keeps_phase},
    {"periodic: burst catches up on all", periodic_burst},
    {"periodic: delay counts from now", periodic_delay},
    {"periodic: skip keeps the phase", periodic_skip},
    {"periodic: skip after a long absence", periodic_skip_long},
    {"periodic: no drift in 5,000 late wake-ups", periodic_no_drift},
    {"periodic: every period of three turns", periodic_every_period},
    {"periodic: up to the end of time", periodic_to_the_end},
    {"timingwheel: every wheel size fires the same", same_for_every_wheel_size},
};

int main(int argc, char **argv)
{
    return TAP_RUN(cases, argc, argv);
}
