/* postpone.c - promise 11: tw_postpone.
 *
 *     postpone [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

static void postpone_is_one_store(void)
{
    begin();
    start('a', 100);
    start('b', 100);
    remember();
    CHECK(postpone('a', 5000) == TW_OK);
    CHECK(tw_deadline(timer_of('a')) == 5000);
    before.letters[0].timer.deadline = 5000;
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

/* Three timers of one bucket of the second wheel. The first timer has fired,
 * and the second timer is postponed behind the last. */
static void postpone_behind_another(void)
{
    for (uint64_t until = 1021; until < 3000; until += 500) {
        begin();
        start('c', 1020);
        start('b', 1010);
        start('a', 1000);
        FIRES(1000, "a");
        postpone('b', until);
        CHECK(next() == 1010); /* the only useless wake-up */
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

/* A timer other than the next timer is postponed: no wake-up is useless. */
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

static const tap_case postpone_cases[] = {
    {"promise 11: postponing to later is one store", postpone_is_one_store},
    {"promise 11: postponing to the same deadline changes nothing",
     postpone_to_the_same},
    {"promise 11: postponing to an earlier time starts the timer again",
     postpone_earlier},
    {"promise 11: a timer postponed into the past is overdue",
     postpone_into_the_past},
    {"promise 11: postponing starts a timer that is not pending",
     postpone_starts},
    {"promise 11: a timer postponed and then less so fires at the last "
     "deadline",
     postpone_there_and_back},
    {"promise 11: a timer postponed to 2^64 - 1 fires there",
     postpone_for_ever},
    {"promise 11: a timer postponed 10,000 times moves once per bucket",
     postpone_at_every_packet},
    {"promise 11: a timer postponed within its tick fires in that tick",
     postpone_within_its_tick},
    {"promise 11: a timer postponed to each power of two fires there",
     postpone_over_every_wheel},
    {"promise 11: the next timer of a sorted bucket is postponed after the "
     "last",
     postpone_behind_another},
    {"promise 11: a later timer of a sorted bucket is postponed: exact "
     "wake-ups",
     postpone_behind_the_next},
    {"promise 11: half of a bucket is postponed and fires in time",
     postpone_many_of_a_bucket},
    {"promise 11: restarts take no more memory", no_allocation_once_warm},
};

TAP_MAIN(postpone_cases)
