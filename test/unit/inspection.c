/* inspection.c - tw_get_stats and tw_dump.
 *
 *     inspection [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

/* ---------------------------------------------------------------- stats --- */

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

static void stats_every_bucket(void)
{
    for (uint64_t tick = 1; tick <= 512; tick++) {
        begin_at(tick - 1);
        start('a', tick);
        CHECK(stats().buckets == 1);
        end();
    }
}

static void stats_cascaded(void)
{
    static tw_timer timers[3000];
    begin();
    for (size_t i = 0; i < 3000; i++) /* all in one bucket */
        CHECK(tw_start(&tw, &timers[i], 900 + i % 100) == TW_OK);
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
    CHECK(s.bytes_held == memory.bytes); /* the count of TW_MALLOC */
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

/* -------------------------------------------------------------- tw_dump --- */

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

/* Draws a wheel without the last line, the memory. Memory differs between
 * machines, so this function compares the last line with tw_get_stats. */
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

/* True if the drawing is as expected. Otherwise prints the drawing. */
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

/* Ticks of 10 units, wheels of 4 steps, and a clock within a tick. The queue is
 * in the order of ticks. Of two equal ticks, the coarser wheel comes first. */
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

/* 9, 10, 99 and 100 timers in a place of the drawing. 512 buckets share 64
 * places, and the first place begins with the clock's bucket. */
static void dump_of_full_places(void)
{
    static tw_timer timers[9 + 10 + 99 + 100];
    static const unsigned many[] = {9, 10, 99, 100};
    size_t next = 0;
    begin_at(1000);
    for (unsigned place = 0; place < 4; place++)
        for (unsigned i = 0; i < many[place]; i++) {
            tw_timer_init(&timers[next], NULL);
            tw_start(&tw, &timers[next++], 1000 + 16 * place + 1 + i % 3);
        }
    CHECK(draws(&tw, "clock: 1000 (tick 1000, of 1 time units)\n"
                     "218 pending, 0 fired, 0 cascaded\n"
                     "wheel 0: step 1, ticks 1000 to 1511\n"
                     "[9.+.+.#..............................................."
                     "..........] holds 218\n"
                     "queue: wheel 0 at tick 1001\n"
                     "in no wheel: 0, overdue or postponed\n"));
    tw_cancel(&tw, &timers[0]); /* a dead slot is no timer */
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

static void act_dump(letter *self)
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

static const tap_case inspection_cases[] = {
    {"tw_get_stats: a new wheel has nothing", stats_fresh},
    {"tw_get_stats: counts timers, buckets and wheels", stats_count},
    {"tw_get_stats: counts the first and the last bucket", stats_every_bucket},
    {"tw_get_stats: counts cascaded timers", stats_cascaded},
    {"tw_get_stats: bytes held are the bytes from TW_MALLOC", stats_bytes},
    {"tw_get_stats: a polled timer counts as fired", stats_of_a_poll},
    {"tw_get_stats: cancelled and drained timers do not count as fired",
     stats_ignore_cancels},
    {"tw_dump: draws a new wheel", dump_of_nothing},
    {"tw_dump: NULL and a destroyed wheel are no wheel", dump_of_no_wheel},
    {"tw_dump: draws wheels from the clock's bucket, and the queue in order",
     dump_of_wheels},
    {"tw_dump: draws how full the buckets are", dump_of_full_places},
    {"tw_dump: counts overdue timers", dump_of_overdue},
    {"tw_dump: draws at most 100 columns, up to 2^64 - 1",
     dump_at_the_end_of_time},
    {"tw_dump: works in a callback and in a visitor", dump_from_inside},
};

TAP_MAIN(inspection_cases)
