/* inspection.c - tw_dump. inspection.script has tw_get_stats.
 *
 *     inspection [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "cases.h"

static char drawing[16384];
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

static const char *drawing_of(const timingwheel *wheel)
{
    size_t calls = memory->calls;
    drawing[0] = '\0';
    drawn_lines = longest_line = 0;
    tw_dump(wheel, draw, drawing);
    CHECK(memory->calls == calls && longest_line <= 100);
    return drawing;
}

/* True if the drawing contains each of the texts, in this order. Otherwise
 * prints the drawing. */
static bool draws(const timingwheel *wheel, const char *const *texts,
                  size_t count)
{
    const char *at = drawing_of(wheel);
    for (size_t i = 0; i < count; i++) {
        const char *found = strstr(at, texts[i]);
        if (found == NULL) {
            printf("# not drawn: %s, in:\n", texts[i]);
            for (at = drawing; *at != '\0'; at += strcspn(at, "\n") + 1)
                printf("# %.*s\n", (int)strcspn(at, "\n"), at);
            return false;
        }
        at = found + strlen(texts[i]);
    }
    return true;
}

#define DRAWS(wheel, ...)                                          \
    tap_check(draws((wheel), (const char *const[]){__VA_ARGS__},   \
                    LENGTH(((const char *const[]){__VA_ARGS__}))), \
              "the drawing", __FILE__, __LINE__)

static void dump_of_no_wheel(void)
{
    set_up();
    DRAWS(tw, "clock: 0 ", "0 pending, 0 fired, 0 cascaded");
    tw_advance_clock(tw, 9); /* a digit, not 09 */
    DRAWS(tw, "clock: 9 (tick 9, of 1 time units)");
    tw_dump(tw, NULL, drawing); /* nobody to tell */
    tw_dump(NULL, NULL, NULL);
    tear_down();
    DRAWS(tw, "no timingwheel");
    DRAWS(NULL, "no timingwheel");
}

/* Ticks of 10 units, wheels of 4 steps, and a clock within a tick. Of two
 * equal ticks, the coarser wheel is the head of the queue. */
static void dump_of_wheels(void)
{
    set_up_with(10, 57, 4, 0);
    RUN("start a 60, b 75, c 80, d 180, e 180, f 700, g 3");
    DRAWS(tw, "clock: 57 (tick 5, of 10 time units)\n",
          "7 pending, 0 fired, 0 cascaded\n",
          "wheel 0: step 1, from tick 5, key 6\n", "[.1.2....] holds 3\n",
          "wheel 1: step 4, from tick 4, key 18\n", "[...2....] holds 2\n",
          "wheel 2: step 16, from tick 0, key 70\n", "[....1...] holds 1\n",
          "in no wheel: 1\n");
    RUN("advance 170: g a b c; start g 180");
    DRAWS(tw, "4 pending, 4 fired, 0 cascaded\n",
          "wheel 0: step 1, from tick 17, key 18\n", "[.1......] holds 1\n",
          "wheel 1: step 4, from tick 16, key 18\n", "[2.......] holds 2\n",
          "] holds 1\n");
    tw_drain(tw, NULL, NULL);
    DRAWS(tw, "wheel 0: step 1, from tick 17\n", "[........] holds 0\n");
    tear_down();
}

/* 9, 10, 99 and 100 timers in a place of the drawing. 512 buckets share 64
 * places, and the first place begins with the clock's bucket. */
static void dump_of_full_places(void)
{
    static const size_t many[] = {9, 10, 99, 100};
    static tw_timer timers[218];
    size_t i = 0;
    set_up_with(1, 1000, 256, 0);
    for (uint64_t place = 0; place < 4; place++)
        for (size_t j = 0; j < many[place]; j++)
            tw_start(tw, &timers[i++], 1000 + 16 * place + 1 + j % 3);
    DRAWS(tw, "218 pending", "wheel 0: step 1, from tick 1000, key 1001\n",
          "[9.+.+.#....", "] holds 218\n");
    tear_down();
}

/* No line is above 100 columns with the longest ticks and clocks. */
static void dump_at_the_end_of_time(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2)
        for (int i = 0; i < 2; i++) {
            set_up_with(1, i == 0 ? UINT64_MAX - 1 : 0, size, 0);
            for (unsigned j = 0; j < 26; j++)
                tw_start(tw, timer_of((char)('a' + j)),
                         UINT64_MAX >> (i == 0 ? 0 : j * 5 / 2));
            DRAWS(tw, i == 0 ? "from tick 18446744073709551614, "
                               "key 18446744073709551615\n["
                             : "step 1, from tick 0, key ");
            CHECK(drawn_lines >= 3 + 2 * stats().wheels);
            tear_down();
        }
}

static void on_fire_dump(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    DRAWS(tw, "clock: 10 ", "1 pending, 1 fired");
}

static void visit_dump(tw_timer *timer, void *context)
{
    (void)timer, (void)context;
    DRAWS(tw, "1 pending");
}

/* In tw_drain: the timers that await a visit are one bucket. */
static void visit_dump_waiting(tw_timer *timer, void *context)
{
    (void)timer, (void)context;
    CHECK(stats().buckets == (stats().pending != 0));
    DRAWS(tw, stats().pending != 0 ? "in no wheel: 1" : "in no wheel: 0");
}

static void dump_from_inside(void)
{
    set_up();
    timer_of('a')->callback = on_fire_dump;
    RUN("start a 10, b 20; advance 10 = 1");
    CHECK(tw_foreach(tw, visit_dump, NULL) == 1);
    RUN("start c 70000");
    CHECK(tw_drain(tw, visit_dump_waiting, NULL) == 2);
    tear_down();
}

static const tap_case cases[] = {
    {"tw_dump: says that there is no wheel, or nothing pending",
     dump_of_no_wheel},
    {"tw_dump: draws wheels from the clock's bucket, and the queue",
     dump_of_wheels},
    {"tw_dump: draws how full the buckets are", dump_of_full_places},
    {"tw_dump: draws at most 100 columns, up to 2^64 - 1",
     dump_at_the_end_of_time},
    {"tw_dump: works in a callback and in a visitor", dump_from_inside},
};

TAP_MAIN(cases)
