/* books.h - keeps books of a program's timers, beside the library: which timer
 * is armed, and for when. The program is compiled unchanged, with
 *
 *     -include books.h -D'CALLBACKS(row)=row(serve) row(on_statistic)'
 *
 * Deadlines are nanoseconds of CLOCK_MONOTONIC, ticks are 1 ms, and the timers
 * are in memory that is never freed. tw_destroy prints the books, and ends the
 * program with 1 if a timer was early or lost. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#define TIMINGWHEEL_IMPLEMENTATION
#define TW_CALL(tw, timer) books_fire(tw, timer)
struct timingwheel;
struct tw_timer;
static void books_fire(struct timingwheel *tw, struct tw_timer *timer);
#include "timingwheel.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>

enum { TICK = 1000000 };
enum { STARTED, POSTPONED, CANCELLED, FIRED, EVENTS };
#define DECLARED(callback) static tw_callback callback;
#define NAMED(callback) {callback, #callback, {0}},
CALLBACKS(DECLARED)
static struct row {
    tw_callback *callback;
    const char *name;
    unsigned long counts[EVENTS];
} rows[] = {CALLBACKS(NAMED){NULL, "total", {0}}};

/* A hash table by address, from which no address is removed. */
enum { RECORDS = 1 << 16 };
static struct record {
    const tw_timer *timer; /* NULL: the record is free */
    uint64_t deadline;
    bool is_armed;
} records[RECORDS];

/* How many were late by so many tenths of a millisecond. The last slot counts
 * all that were later, up to `most` nanoseconds. */
enum { SLOTS = 1000 };
struct lateness {
    unsigned long count, slots[SLOTS];
    uint64_t most;
};
static struct lateness lateness;
static uint64_t advanced, advanced_before; /* the last two times */
static unsigned long wrong, turns;

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

/* Returns by how many milliseconds at most so many percent were late. */
static double lateness_of(const struct lateness *l, unsigned long percent)
{
    unsigned long slot = 0, sum = l->slots[0];
    while (slot < SLOTS - 1 && sum * 100 < percent * l->count)
        sum += l->slots[++slot];
    return slot < SLOTS - 1 ? (double)(slot + 1) / 10 : (double)l->most / TICK;
}

static void print_lateness(const char *what, const struct lateness *l)
{
    printf("  %s: half at most %.1f ms late, 99 %% at most %.1f ms\n", what,
           lateness_of(l, 50), lateness_of(l, 99));
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
    struct row *row = rows;
    while (row->callback != NULL && row->callback != timer->callback)
        row++;
    row->counts[event]++;
    find(timer)->is_armed = event == STARTED || event == POSTPONED;
}

/* Notes a broken promise of the library, and prints the first ten. */
static void complain(bool is_wrong, const char *what)
{
    if (is_wrong && ++wrong <= 10)
        fprintf(stderr, "\ndemo: a timer %s\n", what);
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

/* A timer fires in the first call that reaches its deadline. */
static void books_fire(timingwheel *tw, tw_timer *timer)
{
    struct record *r = find(timer);
    complain(!r->is_armed, "fired that was not armed");
    complain(r->deadline > books_clock(), "fired early");
    complain(is_due(r->deadline, advanced_before), "fired a call too late");
    note_lateness(&lateness, r->deadline);
    note(timer, FIRED);
    timer->callback(tw, timer);
}

static size_t books_advance(timingwheel *tw, uint64_t now)
{
    advanced_before = advanced;
    advanced = now;
    turns++;
    size_t fired = tw_advance_clock(tw, now);
    if (advanced / (1000 * TICK) != advanced_before / (1000 * TICK))
        audit(tw);
    return fired;
}

static void books_destroy(timingwheel *tw)
{
    tw_stats stats;
    audit(tw);
    printf("\n  %-14s%12s%12s%12s%12s%12s\n", program_invocation_short_name,
           "started", "postponed", "cancelled", "fired", "pending");
    for (struct row *row = rows; row->callback != NULL; row++) {
        const unsigned long *n = row->counts;
        printf("  %-14s%12lu%12lu%12lu%12lu%12lu\n", row->name, n[STARTED],
               n[POSTPONED], n[CANCELLED], n[FIRED],
               n[STARTED] - n[CANCELLED] - n[FIRED]);
    }
    tw_get_stats(tw, &stats);
    printf("  the library moved timers %llu times, and none at a postpone\n",
           (unsigned long long)stats.cascaded);
    print_lateness("the timers", &lateness);
    printf("  the loop woke %lu times\n", turns);
    tw_destroy(tw);
    if (wrong > 0) {
        puts("FAILED: the books and the library differ.");
        exit(1);
    }
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
#define tw_advance_clock(tw, now) books_advance(tw, now)
#define tw_destroy(tw) books_destroy(tw)
