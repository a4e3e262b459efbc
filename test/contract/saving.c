/* saving.c - timers that are taken out and started again, at the same clock or
 * at another clock, as when they are saved and loaded. Their order is kept.
 * Rounds are random.
 *
 *     saving [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/cases.h"

#define TIMERS 150

static numbered *list[TIMERS], *expected[TIMERS];
static uint64_t left[TIMERS]; /* until the tick of list[i], when polled */
static size_t listed;
static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    return random_below(&random_state, below);
}

static void on_saved(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel;
    if (CHECK(listed < TIMERS))
        list[listed++] = TW_OWNER(timer, numbered, timer);
}

static void visit_saved(tw_timer *timer, void *context)
{
    (void)context;
    CHECK_EQUAL(tw_timer_state(timer), TW_IDLE);
    on_saved(&tw, timer);
}

/* The tick in which a timer fires that is started at the tick `clock`. */
static uint64_t fires_at(const numbered *timer, uint64_t clock)
{
    return timer->tick < clock ? clock : timer->tick;
}

/* Sorts timers stably by that tick. */
static void sort_by_tick(numbered **timers, uint64_t clock)
{
    for (size_t i = 1; i < listed; i++) {
        numbered *timer = timers[i];
        size_t k = i;
        for (;
             k != 0 && fires_at(timer, clock) < fires_at(timers[k - 1], clock);
             k--)
            timers[k] = timers[k - 1];
        timers[k] = timer;
    }
}

/* True if timers of one tick stand in start order, postponed ones anywhere. */
static bool is_in_start_order(numbered **timers)
{
    uint64_t tick = 0, order = 0;
    for (size_t i = 0; i < listed; i++) {
        if (timers[i]->tick != tick)
            order = 0;
        tick = timers[i]->tick;
        if (!timers[i]->any_place && timers[i]->order < order)
            return false;
        if (!timers[i]->any_place)
            order = timers[i]->order;
    }
    return true;
}

/* Starts timers for some ticks before and many after the clock. Postpones some
 * and starts some again, while a limited call fires a few. */
static void play(uint64_t clock)
{
    for (size_t i = 0; i < 4 * TIMERS; i++) {
        size_t at = i < TIMERS ? i : (size_t)draw(TIMERS);
        uint64_t ticks = draw(9) == 0 ? draw(100000) : draw(40);
        uint64_t deadline = clock + ticks * tick_length + draw(tick_length);
        deadline = draw(50) == 0 ? UINT64_MAX : deadline - 9 * tick_length;
        if (i < TIMERS)
            tw_timer_init(&crowd[at].timer, on_saved);
        if (i < TIMERS || draw(2) == 0)
            CHECK_EQUAL(start_numbered(at, deadline), TW_OK);
        else if (deadline > tw_deadline(&crowd[at].timer))
            CHECK_EQUAL(postpone_numbered(at, deadline), TW_OK);
        listed = 0;
        if (i % TIMERS == TIMERS - 1)
            (void)tw_advance_clock_limit(&tw, clock + draw(9) * tick_length,
                                         (size_t)draw(20));
    }
    listed = 0;
}

/* Takes all timers out: in order by tw_poll, or by tw_drain, to be sorted. */
static void take_out(bool polls)
{
    size_t pending = tw_count(&tw);
    uint64_t clock = tw_now(&tw) / tick_length, tick = 0;
    tw_timer *timer;
    uint64_t now = tw_now(&tw) + draw(20 * tick_length);
    while (polls && (timer = tw_poll(&tw, UINT64_MAX)) != NULL) {
        left[listed] = tw_now(&tw) > now ? tw_now(&tw) - now : 0;
        on_saved(&tw, timer);
    }
    size_t polled = listed;
    CHECK(tw_drain(&tw, visit_saved, NULL) == pending - polled);
    CHECK_EQUAL(listed, pending);
    for (size_t i = 0; i < listed; i++) {
        CHECK(tick_of(tw_deadline(&list[i]->timer)) == list[i]->tick);
        CHECK(tw_remaining(&list[i]->timer, 0) == 0);
        CHECK(!polls ||
              (list[i]->tick > UINT64_MAX / tick_length) == (i >= polled));
        if (polls && list[i]->tick > clock) {
            CHECK(list[i]->tick >= tick);
            tick = list[i]->tick;
        }
    }
    memcpy(expected, list, sizeof list);
    sort_by_tick(expected, 0);
    CHECK(is_in_start_order(expected));
    if (!polls)
        memcpy(list, expected, sizeof list);
}

/* Starts the list again, and compares the order in which the timers fire. What
 * was polled may start for the time that was left. */
static void start_again(bool uses_left)
{
    uint64_t clock = tw_now(&tw) / tick_length;
    for (size_t i = 0; i < listed; i++) {
        uint64_t deadline = tw_deadline(&list[i]->timer);
        if (uses_left && list[i]->tick <= UINT64_MAX / tick_length)
            deadline = tw_after(tw_now(&tw), left[i]);
        CHECK(tw_start(&tw, &list[i]->timer, deadline) == TW_OK);
    }
    memcpy(expected, list, sizeof list);
    if (!uses_left)
        sort_by_tick(expected, clock);
    listed = 0;
    size_t fires = tw_advance_clock(&tw, UINT64_MAX);
    CHECK_EQUAL(fires, listed);
    for (size_t i = 0; i < fires; i++)
        CHECK(list[i] == expected[i]);
    for (size_t i = fires; i < fires + tw_count(&tw); i++)
        CHECK(expected[i]->tick > UINT64_MAX / tick_length);
}

/* The clock at which the timers start again is the same, or it is moved. */
static const struct {
    const char *name;
    bool polls, uses_left;
    int64_t ticks; /* by which the clock is moved */
} rows[] = {
    {"save: drained and sorted by tick, started again", false, false, 0},
    {"save: drained and sorted by tick, the clock is set back", false, false,
     -20},
    {"save: drained and sorted by tick, the clock is set forth", false, false,
     20},
    {"save: polled, started again at the same clock", true, false, 0},
    {"save: polled, the clock is set back", true, false, -20},
    {"save: polled, the clock is set forth", true, false, 20},
    {"save: polled, started for the time that was left", true, true, -20},
};

static void run_row(void)
{
    static const uint64_t ticks[] = {1, 3, 10, 1000000};
    random_state = 1;
    for (unsigned round = 0; round < 100; round++) {
        uint64_t tick = ticks[round % 4], clock = 100 * tick + draw(1000000000);
        tw_config config = {tick, 0, UINT32_C(4) << round % 7, 0, &memory};
        set_up_with(tick, clock, config.wheel_size, 0);
        play(clock);
        clock = tw_now(&tw);
        take_out(rows[tap_case_index].polls);
        CHECK(tw_advance_clock(&tw, 0) == 0 && tw_count(&tw) == 0);
        if (rows[tap_case_index].polls || rows[tap_case_index].ticks != 0) {
            tw_destroy(&tw);
            config.start = clock + (uint64_t)rows[tap_case_index].ticks * tick +
                           draw(tick);
            CHECK_EQUAL(tw_init(&tw, &config), TW_OK);
        }
        start_again(rows[tap_case_index].uses_left);
        tear_down();
    }
}

int main(int argc, char **argv)
{
    tap_case cases[LENGTH(rows)];
    for (size_t i = 0; i < LENGTH(rows); i++)
        cases[i] = (tap_case){rows[i].name, run_row};
    return TAP_RUN(cases, argc, argv);
}
