/* functions.c - the functions one by one: init, destroy, start, cancel, poll,
 * statuses, and refused calls.
 *
 *     functions [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

/* ------------------------------------------------ functions, one by one --- */

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
    FIRES(7, "a"); /* each tick is a unit */
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

/* The user's clock is below config.start. */
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
    CHECK(memory.calls > 0); /* counted in the heap of alloc_context */
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

static void visit_none(tw_timer *timer, void *context)
{
    (void)context;
    CHECK(timer == NULL);
}

static void zero_memory_refuses(void)
{
    timingwheel zero;
    tw_timer timer = {0};
    memset(&zero, 0, sizeof zero);
    CHECK(tw_start(&zero, &timer, 5) == TW_EINVAL);
    CHECK(tw_postpone(&zero, &timer, 5) == TW_EINVAL);
    CHECK(tw_start_within(&zero, &timer, 5, 9) == TW_EINVAL);
    CHECK(tw_reserve(&zero, 5, 5) == TW_EINVAL);
    CHECK(!tw_cancel(&zero, &timer) && !tw_is_pending(&timer));
    CHECK(tw_advance_clock(&zero, 5) == 0 && tw_poll(&zero, 5) == NULL);
    CHECK(tw_count(&zero) == 0);
    tw_destroy(&zero);
}

static void destroyed_refuses(void)
{
    tw_stats s, none;
    memset(&none, 0, sizeof none);
    begin();
    tw_destroy(&tw);
    CHECK(start('a', 5) == TW_EINVAL);
    CHECK(postpone('a', 5) == TW_EINVAL);
    CHECK(start_within('a', 5, 9) == TW_EINVAL);
    CHECK(tw_reserve(&tw, 5, 5) == TW_EINVAL);
    CHECK(tw_foreach(&tw, visit_none, NULL) == 0);
    CHECK(tw_advance_clock(&tw, 5) == 0 && tw_now(&tw) == 0);
    CHECK(tw_poll(&tw, 5) == NULL && tw_now(&tw) == 0);
    CHECK(!tw_is_pending(timer_of('a')) && tw_count(&tw) == 0);
    memset(&s, 1, sizeof s);
    tw_get_stats(&tw, &s);
    CHECK(memcmp(&s, &none, sizeof s) == 0);
    memset(&s, 1, sizeof s);
    tw_get_stats(NULL, &s);
    CHECK(memcmp(&s, &none, sizeof s) == 0);
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
    letter one = {TW_TIMER_INIT(on_fire), 'z', NULL, NULL, 0, 0};
    CHECK(tw_timer_state(&one.timer) == TW_IDLE);
    CHECK(tw_start(&tw, &one.timer, 5) == TW_OK);
    FIRES(5, "z");
    end();
}

/* A timer in the middle of its owner, and an owner with two timers. */
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

/* Of twelve timers in a bucket each is cancelled in turn. */
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
    CHECK(start('a', 50) == TW_OK);   /* equal */
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
        CHECK(i == 0 || strlen(text) > 30); /* says what to do */
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

/* ------------------------------------------------------------- refusals --- */

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
    FIRES(20, "aaaa"); /* the firing timer makes room */
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

/* ---------------------------------------------------------------- polls --- */

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
    CHECK(fired_count == 0); /* tw_poll called no callback */
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
    start('c', 5); /* overdue: behind timer a */
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

/* Fires all tickets, every `step` ticks up to `span`, by calls or by polls.
 * Counts the timers moved and the allocations. */
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

/* Polls move and allocate no more than calls do. The timers are due far apart,
 * or are in a large bucket. In the third run, the large bucket moves ahead.
 * (Only a poll that returns NULL moves timers ahead.) */
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

static const tap_case functions_cases[] = {
    {"tw_timer: has at most 32 bytes, and 24 if a pointer has 8", timer_size},
    {"version: is three integers", version},
    {"tw_init: NULL means the defaults", init_defaults},
    {"tw_init: a config of zeros means the defaults", init_zero_config},
    {"tw_init: the clock begins at start", init_start},
    {"tw_init: a deadline up to config.start has passed", init_start_ahead},
    {"tw_init: ignores what the memory held before", init_overwrites},
    {"tw_init: allocates nothing", init_allocates_nothing},
    {"tw_init: every power of two from 2 to 4096 is a wheel size",
     init_wheel_sizes},
    {"tw_init: hands alloc_context to TW_MALLOC", alloc_context_is_handed_on},
    {"tw_init: before it, zero memory refuses starts and calls",
     zero_memory_refuses},
    {"tw_destroy: pending timers become idle", destroy_makes_idle},
    {"tw_destroy: does nothing the second time", destroy_twice},
    {"tw_destroy: a destroyed wheel refuses every call", destroyed_refuses},
    {"tw_destroy: tw_init makes the wheel usable again", destroy_then_init},
    {"tw_destroy: leaves fired and cancelled timers alone",
     destroy_leaves_fired_and_cancelled},
    {"tw_timer: {0} is a valid idle timer", timer_zero_is_idle},
    {"tw_timer: TW_TIMER_INIT makes an idle timer", timer_initialiser},
    {"tw_timer: TW_OWNER returns the enclosing struct", timer_owner},
    {"tw_timer_init: makes a fired timer idle", timer_init_again},
    {"tw_timer_state: follows start, cancel, fire and drain", states_in_turn},
    {"tw_deadline: returns the deadline as requested, not rounded",
     deadline_as_asked},
    {"tw_deadline: follows a start in a callback", deadline_in_callback},
    {"tw_count: follows start, cancel, fire and drain", count_follows},
    {"tw_cancel: returns true if the timer was pending, else does nothing",
     cancel_answers},
    {"tw_cancel: a cancelled timer never fires", cancelled_never_fires},
    {"tw_cancel: removes a timer from any place of a bucket",
     cancel_each_place},
    {"tw_cancel: leaves the last timer of a bucket", cancel_all_but_one},
    {"tw_start: a pending timer is moved and counts once", start_pending_moves},
    {"tw_now: returns exactly the time handed in", now_is_exact},
    {"timingwheel: two wheels share nothing", wheels_are_independent},
    {"tw_strerror: returns a sentence for each status", strerror_sentences},
    {"tw_strerror: returns a text for any other number", strerror_unknown},
    {"tw_status: refusals are negative", status_values},
    {"refusal: a wheel size that is no power of two from 2 to 4096",
     bad_wheel_sizes},
    {"refusal: NULL for a wheel does nothing", null_wheel},
    {"refusal: NULL for a timer does nothing", null_timer},
    {"refusal: NULL for a result or a visitor changes nothing", null_results},
    {"refusal: max_pending is TW_EFULL and changes nothing", full},
    {"refusal: at max_pending a pending timer can be moved",
     full_but_pending_moves},
    {"refusal: cancel, fire, poll and drain make room", full_no_more},
    {"refusal: max_pending holds in callbacks", full_in_callbacks},
    {"refusal: max_pending of 26 refuses the 27th timer", full_of_many},
    {"tw_poll: returns due timers in order", poll_order},
    {"tw_poll: sets the clock to the timer's tick, then to now", poll_clock},
    {"tw_poll: calls no callback", poll_calls_nothing},
    {"tw_poll: a timer may start again between two polls",
     poll_and_start_again},
    {"tw_poll: returns overdue timers first", poll_overdue},
    {"tw_poll: a timer cancelled between two polls is not returned",
     poll_cancel_between},
    {"tw_poll: can be mixed with tw_advance_clock", poll_mixed},
    {"tw_poll: a time below the clock leaves the clock alone", poll_backwards},
    {"tw_poll: returns timers up to 2^64 - 1", poll_ends_of_time},
    {"tw_poll: returns thousands of timers as tw_advance_clock fires them",
     poll_as_advance},
    {"tw_poll: moves as few timers as tw_advance_clock", poll_cost},
};

TAP_MAIN(functions_cases)
