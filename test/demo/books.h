/* books.h - a second list of the demo's timers: what is armed, and for when.
 * Calls of the library go through the list, count, and complain about early or
 * lost timers. Deadlines are nanoseconds of CLOCK_MONOTONIC, ticks are 1 ms,
 * and the memory of timers is never freed. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#define TIMINGWHEEL_IMPLEMENTATION
#define TW_CALL(tw, timer) books_fire(tw, timer)
struct timingwheel;
struct tw_timer;
static void books_fire(struct timingwheel *tw, struct tw_timer *timer);
static void before_callback(struct tw_timer *timer);
#include "timingwheel.h"
#include <stdio.h>
#include <time.h>

enum { TICK = 1000000 };
enum { STARTED, POSTPONED, CANCELLED, FIRED, AGAIN, EVENTS };
static tw_callback serve, on_statistic, on_pause, on_no_answer;
static const struct row {
    tw_callback *callback;
    const char *name;
} rows[] = {{serve, "serve"},
            {on_statistic, "on_statistic"},
            {on_pause, "on_pause"},
            {on_no_answer, "on_no_answer"}};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

/* How many were late by so many tenths of a millisecond. The last slot counts
 * all that were later, up to `most` nanoseconds. */
enum { SLOTS = 1000 };
struct lateness {
    unsigned long count, slots[SLOTS];
    uint64_t most;
};

/* What a process counts. AGAIN: fired, and started again by the callback. */
static struct books {
    unsigned long counts[ROWS][EVENTS], wrong;
    unsigned long long moves;
    struct lateness lateness;
} * books;

/* A hash table by address, from which no address is removed. */
enum { RECORDS = 1 << 16 };
static struct record {
    const tw_timer *timer; /* NULL: the record is free */
    uint64_t deadline;
    bool is_armed;
} records[RECORDS];

static uint64_t advanced, advanced_before; /* the last two times */
static uint64_t woken;                     /* when the last wait may end */

static uint64_t books_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void note_lateness(struct lateness *l, uint64_t deadline)
{
    uint64_t late = books_clock() - deadline, slot = late / 100000;
    l->slots[slot < SLOTS ? slot : SLOTS - 1]++;
    l->most = late > l->most ? late : l->most;
    l->count++;
}

/* Prints by how much half were late at most, then 99 % and all. */
static void print_lateness(const char *who, const struct lateness *l)
{
    printf("  %-28s", who);
    for (unsigned long percent = 50; percent <= 99; percent += 49) {
        unsigned long slot = 0, sum = l->slots[0];
        while (slot < SLOTS - 1 && sum * 100 < percent * l->count)
            sum += l->slots[++slot];
        if (slot < SLOTS - 1)
            printf("%12.1f ms", (double)(slot + 1) / 10);
        else
            printf("%15s", "over 100 ms");
    }
    printf("%12.1f ms\n", (double)l->most / TICK);
}

static struct record *find(const tw_timer *timer)
{
    size_t i = (uintptr_t)timer / sizeof(*timer) % RECORDS;
    while (records[i].timer != NULL && records[i].timer != timer)
        i = (i + 1) % RECORDS;
    records[i].timer = timer;
    return &records[i];
}

static void note(const tw_timer *timer, int event)
{
    size_t row = 0;
    while (row < ROWS - 1 && rows[row].callback != timer->callback)
        row++;
    books->counts[row][event]++;
    if (event != AGAIN)
        find(timer)->is_armed = event == STARTED || event == POSTPONED;
}

/* Notes a broken promise of the library, and prints the first ten. */
static void complain(bool is_wrong, const char *what)
{
    if (is_wrong && ++books->wrong <= 10)
        fprintf(stderr, "demo: a timer %s\n", what);
}

/* True if a call that advances to `time` fires a timer with this deadline. */
static bool is_due(uint64_t deadline, uint64_t time)
{
    return (deadline + TICK - 1) / TICK <= time / TICK;
}

/* Compares the books with the library; not in a callback, where other timers
 * may be due and not yet fired. */
static void audit(const timingwheel *tw)
{
    size_t armed = 0;
    for (const struct record *r = records; r < records + RECORDS; r++) {
        armed += r->is_armed;
        complain(r->is_armed && is_due(r->deadline, advanced), "is lost");
        complain(r->is_armed != tw_is_pending(r->timer) ||
                     (r->is_armed && r->deadline != tw_deadline(r->timer)),
                 "is different in the library and in the books");
    }
    complain(armed != tw_count(tw) || !tw_check(tw), "is missing in the count");
}

/* `set` is tw_start or tw_postpone. */
static int books_set(timingwheel *tw, tw_timer *timer, uint64_t deadline,
                     int (*set)(timingwheel *, tw_timer *, uint64_t))
{
    struct record *r = find(timer);
    int status = set(tw, timer, deadline);
    complain(status != TW_OK, "was refused");
    note(timer, r->is_armed ? POSTPONED : STARTED);
    r->deadline = deadline;
    return status;
}

static bool books_cancel(timingwheel *tw, tw_timer *timer)
{
    bool was_pending = tw_cancel(tw, timer);
    complain(was_pending != find(timer)->is_armed, "was cancelled wrongly");
    if (was_pending)
        note(timer, CANCELLED);
    return was_pending;
}

static uint64_t books_wait(const timingwheel *tw, uint64_t now, uint64_t most)
{
    uint64_t wait = tw_wait(tw, now, most);
    woken = wait > 0 ? now + wait : 0;
    return wait;
}

/* A timer fires in the first call that reaches its deadline, and no wait goes
 * beyond the tick of the deadline. */
static void books_fire(timingwheel *tw, tw_timer *timer)
{
    struct record *r = find(timer);
    complain(!r->is_armed, "fired that was not armed");
    complain(r->deadline > books_clock(), "fired early");
    complain(is_due(r->deadline, advanced_before), "fired a call too late");
    complain(woken > 0 && is_due(r->deadline, woken - 1), "waited too long");
    note_lateness(&books->lateness, r->deadline);
    note(timer, FIRED);
    before_callback(timer);
    timer->callback(tw, timer);
    if (r->is_armed)
        note(timer, AGAIN);
}

static size_t books_advance(timingwheel *tw, uint64_t now)
{
    advanced_before = advanced;
    advanced = now;
    size_t fired = tw_advance_clock(tw, now);
    if (advanced / (1000 * TICK) != advanced_before / (1000 * TICK))
        audit(tw);
    return fired;
}

static void books_destroy(timingwheel *tw)
{
    tw_stats stats;
    audit(tw);
    tw_get_stats(tw, &stats);
    books->moves = stats.cascaded;
    tw_destroy(tw);
}

/* From here on the program calls the books, which call the library. */
#define tw_start(tw, timer, deadline) books_set(tw, timer, deadline, tw_start)
#define tw_postpone(tw, timer, deadline) \
    books_set(tw, timer, deadline, tw_postpone)
#define tw_start_after(tw, timer, now, delay) \
    books_set(tw, timer, tw_after(now, delay), tw_start)
#define tw_postpone_after(tw, timer, now, delay) \
    books_set(tw, timer, tw_after(now, delay), tw_postpone)
#define tw_cancel(tw, timer) books_cancel(tw, timer)
#define tw_wait(tw, now, most) books_wait(tw, now, most)
#define tw_advance_clock(tw, now) books_advance(tw, now)
#define tw_destroy(tw) books_destroy(tw)
