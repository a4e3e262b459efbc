/* misuse.c - misuse that a build with TW_DEBUG detects. Each kind of misuse
 * prints one line on standard error, which says the mistake and the remedy, and
 * ends in abort. What is allowed, but most likely a mistake, prints a hint, and
 * the program goes on. NDEBUG makes no difference.
 *
 *     misuse [CASE...]
 *
 * Here a handler of SIGABRT jumps out of the library. No case uses the
 * timingwheel afterwards, and the memory of the wheels is an array, so that
 * nothing leaks.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define NDEBUG
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "../lib/tap.h"

static union {
    unsigned char bytes[1 << 20];
    uint64_t align;
} memory;
static size_t memory_used;
static void (*in_allocator)(void); /* the misuse by TW_MALLOC and TW_FREE */

static void *take(size_t size)
{
    void *block = memory.bytes + memory_used;
    if (in_allocator != NULL)
        in_allocator();
    memory_used += (size + 63) / 64 * 64;
    return memory_used <= sizeof memory.bytes ? block : NULL;
}

static void give(void)
{
    if (in_allocator != NULL)
        in_allocator();
}

#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) ((void)(context), (void)(pointer), give())
#define TW_DEBUG
#undef TW_ASSERT
#define TW_STATIC
/* tcc has no atomics, and coverage measures the mailbox in one program. */
#if !defined(__TINYC__) && !defined(ONE_MAILBOX)
#define TIMINGWHEEL_THREADS
#endif
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static timingwheel tw, other, copy;
static tw_timer timers[1000];
static bool without; /* the next step has NULL instead of a timingwheel */
static const char *called = ""; /* by the running step: `tw_start(...)` */

static void nothing(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
}

static void set_up(void)
{
    static const tw_config config = {1, 0, 16, 0, NULL};
    in_allocator = NULL;
    memory_used = 0;
    without = false;
    tw_init(&tw, &config);
    tw_init(&other, &config);
    for (size_t i = 0; i < LENGTH(timers); i++)
        tw_timer_init(&timers[i], nothing);
}

/* ---------------------------------- what a row damages, and which calls --- */

static void zero(tw_timer *timer)
{
    memset(timer, 0, sizeof *timer);
}

static void initialise(tw_timer *timer)
{
    tw_timer_init(timer, NULL);
}

/* Overwrites a timer with another pending timer. */
static void overwrite(tw_timer *timer)
{
    tw_start(&tw, &timers[999], 4000);
    *timer = timers[999];
}

/* What malloc writes into freed memory. */
static void scribble(tw_timer *timer)
{
    memset(timer, 0xa5, 2 * sizeof(void *));
}

static void initialise_and_start(tw_timer *timer)
{
    tw_timer_init(timer, NULL);
    tw_start(&tw, timer, 4000);
}

static void (*const damages[])(tw_timer *) = {zero, initialise, overwrite,
                                              scribble, initialise_and_start};
static void (*damage)(tw_timer *);

static void visit(tw_timer *timer, void *context)
{
    (void)timer, (void)context;
}

static void run_steps(const char *at);

/* Within a call. */
static void run_inner(const char *steps)
{
    const char *caller = called;
    run_steps(steps);
    called = caller;
}

static void start_and_damage(tw_timer *timer, void *context)
{
    (void)context;
    if (timer != &timers[0])
        return;
    run_inner("s5,20");
    damage(&timers[1]);
}

static void damage_next(tw_timer *timer, void *context)
{
    (void)context;
    if (timer == &timers[0])
        damage(&timers[1]);
}

/* Calls, as steps. TW_MALLOC and TW_FREE must make none of the calls, callbacks
 * and visitors none of the REFUSED calls from the second on. The first two are
 * allowed without a wheel, if the timer is not pending. */
static const char *const calls[] = {
    "c0",     "D",     "a20",    "L20,5", "l20",     "t", "s5,10",
    "p0,500", "A5,10", "Q0,500", "m0,1",  "r100000", "d", "v"};
#define REFUSED 5
#define CALLS LENGTH(calls)

static size_t call; /* in `calls` */

static void make_call(void)
{
    run_inner(calls[call]);
}

static void call_in_callback(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    make_call();
}

static void start_in_callback(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    run_inner("s5,20");
}

static jmp_buf left;

static void jump_out(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    longjmp(left, 1);
}

/* A callback jumps out of the call. */
static void leave_call(timingwheel *wheel, tw_timer *timer)
{
    tw_timer_init(timer, jump_out);
    tw_start(wheel, timer, 10);
    if (setjmp(left) == 0)
        tw_advance_clock(wheel, 10);
}

static void call_in_visitor(tw_timer *timer, void *context)
{
    (void)timer, (void)context;
    make_call();
}

/* ------------------------------------------------------------- the rows --- */

/* A kind of misuse, or of a hint. The line on standard error contains `words`;
 * NULL: there is no line. A row runs once per damage or per call, or once. */
typedef struct kind {
    const char *words;
    bool names_timer;   /* the line names a timer and its callback */
    bool is_hint;       /* the program goes on */
    size_t runs, first; /* `first`: in `calls` */
} kind;

static const kind damaged = {"moved or overwritten: cancel it", true, false,
                             LENGTH(damages), 0};
static const kind elsewhere = {"pending on another timingwheel", true, false, 1,
                               0};
static const kind missing = {"NULL", false, false, 1, 0};
static const kind out_of_range = {"wheel_size", false, false, 1, 0};
static const kind set_up_again = {"tw_init was called again", true, false, 1,
                                  0};
static const kind into_pending = {"tw_move into a pending timer", true, false,
                                  1, 0};
static const kind uninitialised = {"was never initialised", true, false, 1, 0};
static const kind inside = {"must not advance, poll, trim or destroy", false,
                            false, REFUSED, 1};
static const kind left_before = {"longjmp, or by an exception through C", false,
                                 false, REFUSED, 1};
static const kind allocating = {
    "TW_MALLOC or TW_FREE uses its timingwheel: do not call "
    "tw_ functions from the allocator",
    false, false, CALLS, 0};
static const kind unready = {"before tw_init or after tw_destroy", false, false,
                             CALLS - 2, 2};
static const kind copied = {"moved or copied", false, false, CALLS - 1, 1};
static const kind delay = {"a delay?", true, true, 1, 0};
static const kind silent = {"no callback", true, true, 1, 0};
static const kind set_back = {"set back?", false, true, 1, 0};
static const kind no_hint = {NULL, false, true, 1, 0};

/* The misuse is a list of steps, see run_step. The line ends with the function
 * of the last step. */
typedef struct row {
    const kind *kind;
    const char *name;
    const char *misuse;
} row;

static const row rows[] = {
    {&damaged, "a damaged timer, alone in its bucket, fires", "s0,10 x0 a10"},
    {&damaged, "a damaged timer fires among others", "n3,8 x1 a10"},
    {&damaged, "a damaged timer is polled", "s0,99 s1,99 x1 l99 l99"},
    {&damaged, "a damaged overdue timer fires", "s0,0 s1,0 x1 a0"},
    {&damaged, "the timer before a damaged timer is cancelled",
     "s0,10 s1,10 x1 c0"},
    {&damaged, "the timer behind a damaged timer is cancelled",
     "s0,10 s1,10 x0 c1"},
    {&damaged, "the neighbour of a damaged timer is restarted",
     "s0,10 s1,10 x1 s0,12"},
    {&damaged, "the neighbour of a damaged timer moves", "s0,10 s1,10 x1 m0,7"},
    {&damaged, "a timer is started behind a damaged timer", "s0,10 x0 s1,10"},
    {&damaged, "a damaged timer is visited", "s0,10 s1,10 x1 v"},
    {&damaged, "a damaged timer is visited first", "n8,304 x0 v"},
    {&damaged, "a damaged timer is visited among others", "n8,304 x4 v"},
    {&damaged, "a visitor of tw_drain damages the next timer", "n9,304 e"},
    {&damaged, "a damaged timer is drained", "s0,10 s1,10 x1 d"},
    {&damaged, "a timingwheel with a damaged timer is destroyed",
     "n3,304 x1 D"},
    {&damaged, "a damaged timer comes up before few others", "n8,304 x0 a320"},
    {&damaged, "a damaged timer comes up with few others", "n8,304 x4 a320"},
    {&damaged, "a bucket with a damaged timer moves down", "n64,320 x62 a320"},
    {&damaged, "a bucket moves down before a damaged timer",
     "n64,320 a312 s64,320 x64 L320,8"},
    {&damaged, "a large bucket with a damaged timer moves ahead",
     "n990,512 x988 a256 a300 a400 a500"},
    {&damaged, "a large bucket with a damaged last timer moves ahead",
     "n990,512 x989 a256 a300 a400 a500"},
    {&damaged, "a callback starts a timer behind a damaged timer",
     "B0 s0,10 s1,20 x1 a10"},
    {&damaged, "a damaged timer fires after a start in a callback",
     "B0 s0,10 s1,11 x1 a11"},
    {&damaged, "a damaged timer is drained after a start in a visitor",
     "s0,10 s1,10 W"},
    {&elsewhere, "a timer is started on a second timingwheel", "s0,10 S0,10"},
    {&elsewhere, "a timer is started far ahead on a second timingwheel",
     "s1,9999 S0,9999 w0"},
    {&elsewhere, "an overdue timer is started on a second timingwheel",
     "s0,0 S0,10"},
    {&elsewhere, "a timer is postponed on a second timingwheel", "s0,10 P0,20"},
    {&elsewhere, "a timer is cancelled on a second timingwheel", "s0,10 C0"},
    {&elsewhere, "a timer is moved on a second timingwheel", "s0,10 M0,1"},
    {&set_up_again, "a timer is started after a second tw_init",
     "s0,10 I2 s0,20"},
    {&set_up_again, "a timer is cancelled after a second tw_init",
     "s0,10 I2 c0"},
    {&into_pending, "tw_move into a pending timer", "s0,10 s1,10 m0,1"},
    {&uninitialised, "a timer that was never initialised is started",
     "u0 s0,10"},
    {&uninitialised, "a timer that was never initialised is postponed",
     "u0 p0,10"},
    {&uninitialised, "a timer that was never initialised is cancelled",
     "u0 c0"},
    {&inside, "a callback advances, polls, trims or destroys", "b0 s0,10 a10"},
    {&inside, "a visitor of tw_foreach does", "s0,10 V"},
    {&inside, "a visitor of tw_drain does", "s0,10 s1,10 R"},
    {&left_before, "a callback has jumped out of an earlier call", "j0 !"},
    {&allocating, "TW_MALLOC calls back", "s0,10 f s9,100"},
    {&allocating, "TW_FREE calls back", "s0,10 s9,100 c9 f t"},
    {&unready, "a call before tw_init", "z !"},
    {&unready, "a call after tw_destroy", "D !"},
    {&copied, "a call for a copy of another timingwheel", "s0,10 S1,10 y !"},
    {&copied, "a start where a timingwheel has gone", "y Y0"},
    {&out_of_range, "tw_init: a wheel_size of 1", "I1"},
    {&out_of_range, "tw_init: a wheel_size of 48", "I48"},
    {&out_of_range, "tw_init: a wheel_size of 8192", "I8192"},
    {&missing, "tw_init: no timingwheel", "N I2"},
    {&missing, "tw_timer_init: no timer", "b1000"},
    {&missing, "tw_start: no timingwheel", "N s0,10"},
    {&missing, "tw_start: no timer", "s1000,10"},
    {&missing, "tw_start_within: no timingwheel", "N w0"},
    {&missing, "tw_start_within: no timer", "w1000"},
    {&missing, "tw_postpone: no timingwheel", "N p0,10"},
    {&missing, "tw_postpone: no timer", "p1000,10"},
    {&missing, "tw_start_after: no timingwheel", "N A0,10"},
    {&missing, "tw_start_after: no timer", "A1000,10"},
    {&missing, "tw_postpone_after: no timingwheel", "N Q0,10"},
    {&missing, "tw_postpone_after: no timer", "Q1000,10"},
    {&missing, "tw_move: no timingwheel", "s0,10 N m0,1"},
    {&missing, "tw_move: from no timer", "m1000,1"},
    {&missing, "tw_move: to no timer", "s0,10 m0,1000"},
    {&missing, "tw_advance_clock: no timingwheel", "N a10"},
    {&missing, "tw_advance_clock_limit: no timingwheel", "N L10,5"},
    {&missing, "tw_poll: no timingwheel", "N l10"},
    {&missing, "tw_reserve: no timingwheel", "N r10"},
    {&missing, "tw_trim: no timingwheel", "N t"},
    {&missing, "tw_foreach: no timingwheel", "N v"},
    {&missing, "tw_drain: no timingwheel", "N d"},
    {&delay, "hint: tw_start with a delay", "H1000 s0,30"},
    {&delay, "hint: tw_start_within with a delay", "H200000 w0"},
    {&delay, "hint: tw_postpone to an earlier delay", "H1000 s0,2000 p0,30"},
    {&delay, "hint: tw_postpone to a later delay", "H1000 s0,0 p0,30"},
    {&delay, "hint: a deadline just before `start`", "H1000 s0,999"},
    {&silent, "hint: a timer without callback fires", "k0 s0,9 a9"},
    {&silent, "hint: a timer without callback fires with a limit",
     "k0 s0,9 L9,5"},
    {&silent, "hint: a timer without callback fires after a start",
     "k0 B1 s1,9 s0,10 a10"},
    {&set_back, "hint: tw_advance_clock back", "a9 a8"},
    {&set_back, "hint: tw_advance_clock before `start`", "H1000 a999"},
    {&set_back, "hint: tw_advance_clock_limit back", "a9 L8,5"},
    {&set_back, "hint: tw_poll back", "a9 l8"},
    {&set_back, "hint: back before the `now` of an unfinished call",
     "s0,1 s1,1 L9,1 L8,1"},
    {&set_back, "hint: back after a poll", "s0,1 l9 l9 a8"},
    {&no_hint, "no hint: deadline 0, and overdue",
     "H1000 s0,0 s1,1000 a2000 s1,1500 p1,0"},
    {&no_hint, "no hint: relative starts", "H1000 A0,0 A1,30 Q1,50 a2000"},
    {&no_hint, "no hint: tw_poll takes a timer without callback",
     "k0 s0,9 l9 l9"},
    {&no_hint, "no hint: the same `now` again", "a9 a9 L9,5 l9"},
    {&no_hint, "no hint: the same `now` for an unfinished call",
     "s0,1 s1,1 L9,1 L9,1 a9"},
#ifdef TIMINGWHEEL_THREADS
    {&damaged, "a posted start behind a damaged timer", "s0,10 x0 O0,10 G"},
    {&damaged, "a posted cancel beside a damaged timer",
     "O0,10 G s0,10 x0 o0 G"},
    {&delay, "hint: tw_post_start with a delay", "H1000 O0,30 G"},
#endif
};

/* Returns NULL for the number 1000. */
static tw_timer *timer_of(uint64_t number)
{
    return number == LENGTH(timers) ? NULL : &timers[number % LENGTH(timers)];
}

static void start_many(timingwheel *wheel, uint64_t count, uint64_t time)
{
    for (uint64_t i = 0; i < count; i++)
        tw_start(wheel, &timers[i], time + i % 8);
}

/* Copies the timingwheel, and gets a copy of the other. */
static void swap_copies(void)
{
    copy = tw;
    tw = other;
    timers[0] = timers[1];
}

/* A timingwheel whose clock starts at 1000 or at 0. */
static uint64_t start_of(const timingwheel *wheel)
{
    return wheel == NULL ? 0 : tw_now(wheel);
}

static void set_up_at(uint64_t start)
{
    tw_config config = {1, 0, 16, 0, NULL};
    config.start = start;
    tw_init(&tw, &config);
}

/* Runs a step: a letter, the number of a timer or a time, and a time. S, P, C
 * and M are for the other timingwheel. After N, the next step has none. */
static void run_step(char step, uint64_t number, uint64_t time)
{
    timingwheel *wheel = &tw;
    tw_timer *timer = timer_of(number);
    tw_config config = {0, 0, (uint32_t)number, 0, NULL};
    if (without || strchr("SPCM", step) != NULL)
        wheel = without ? NULL : &other;
    without = step == 'N';
#define STEP(letters, action)                                           \
    (strchr(letters, step) != NULL ? (called = #action, (void)(action)) \
                                   : (void)0)
    STEP("sS", tw_start(wheel, timer, time));
    STEP("w", tw_start_within(wheel, timer, 100000, 200000));
    STEP("A", tw_start_after(wheel, timer, start_of(wheel), time));
    STEP("Q", tw_postpone_after(wheel, timer, start_of(wheel), time));
    STEP("n", start_many(wheel, number, time));
    STEP("pP", tw_postpone(wheel, timer, time));
    STEP("cC", tw_cancel(wheel, timer));
    STEP("mM", tw_move(wheel, timer, timer_of(time)));
    STEP("x", damage(timer));
    STEP("u", memset(timer, 0xa5, sizeof *timer));
    STEP("b", tw_timer_init(timer, call_in_callback));
    STEP("B", tw_timer_init(timer, start_in_callback));
    STEP("j", leave_call(wheel, timer));
    STEP("a", tw_advance_clock(wheel, number));
    STEP("L", tw_advance_clock_limit(wheel, number, (size_t)time));
    STEP("l", tw_poll(wheel, number));
    STEP("r", tw_reserve(wheel, number));
    STEP("v", tw_foreach(wheel, visit, NULL));
    STEP("W", tw_drain(wheel, start_and_damage, NULL));
    STEP("X", tw_foreach(wheel, start_and_damage, NULL));
    STEP("V", tw_foreach(wheel, call_in_visitor, NULL));
    STEP("e", tw_drain(wheel, damage_next, NULL));
    STEP("d", tw_drain(wheel, NULL, NULL));
    STEP("R", tw_drain(wheel, call_in_visitor, NULL));
    STEP("D", tw_destroy(wheel));
    STEP("I", tw_init(wheel, &config));
    STEP("H", set_up_at(number));
    STEP("k", tw_timer_init(timer, NULL));
    STEP("t", tw_trim(wheel));
    STEP("f", in_allocator = make_call); /* for TW_MALLOC and TW_FREE */
    STEP("z", memset((void *)&tw, 0, sizeof tw));
    STEP("y", swap_copies());
    STEP("Y", tw_start(&copy, timer, 10));
    STEP("!", make_call());
#ifdef TIMINGWHEEL_THREADS
    static tw_mailbox box;
    static tw_remote remote;
    STEP("O", (tw_mailbox_init(&box, wheel, NULL, NULL),
               tw_remote_init(&remote, nothing),
               tw_post_start(&box, &remote, time)));
    STEP("o", tw_post_cancel(&box, &remote));
    STEP("G", tw_collect(&box));
#endif
}

static void run_steps(const char *at)
{
    for (char *end; *at != '\0'; at = end) {
        char step = *at;
        uint64_t number = strtoull(at + 1, &end, 10), time = 0;
        if (*end == ',')
            time = strtoull(end + 1, &end, 10);
        run_step(step, number, time);
        end += strspn(end, " ");
    }
}

/* ------------------------------------------------- what comes of misuse --- */

static sigjmp_buf caught;
static char said[1000]; /* on standard error */

static void on_abort(int number)
{
    (void)number;
    siglongjmp(caught, 1);
}

/* Runs steps, or else proper use. True if they ended in abort. */
static bool aborts(const char *steps, void (*proper_use)(void))
{
    static FILE *file;
    volatile bool aborted = false;
    int standard_error = dup(2);
    if (file == NULL)
        file = tmpfile();
    if (file == NULL || ftruncate(fileno(file), 0) != 0 ||
        lseek(fileno(file), 0, SEEK_SET) != 0)
        abort();
    dup2(fileno(file), 2);
    signal(SIGABRT, on_abort);
    if (sigsetjmp(caught, 1) != 0)
        aborted = true;
    else if (steps != NULL)
        run_steps(steps);
    else
        proper_use();
    signal(SIGABRT, SIG_DFL);
    dup2(standard_error, 2);
    close(standard_error);
    ssize_t length = pread(fileno(file), said, sizeof said - 1, 0);
    said[length < 0 ? 0 : length] = '\0';
    return aborted;
}

/* True if the line ends with the called function. */
static bool ends_right(void)
{
    char end[100];
    const char *function = strrchr(said, '(');
    snprintf(end, sizeof end, "(%.*s)\n", (int)strcspn(called, "("), called);
    return strstr(end, "tw_") != NULL && function != NULL &&
           strcmp(function, end) == 0 && strchr(said, '\n')[1] == '\0';
}

/* True if the line names one of the timers, and its callback. */
static bool names_a_timer(void)
{
    void *timer, *callback;
    const char *names = strstr(said, "; timer ");
    if (names == NULL ||
        sscanf(names, "; timer %p, callback %p (", &timer, &callback) != 2)
        return false;
    /* A timer of `timers`, or that of a remote. */
    size_t number = (size_t)((tw_timer *)timer - timers);
    return callback == (void *)(uintptr_t)(number < LENGTH(timers)
                                               ? timers[number].callback
                                               : nothing);
}

/* True if the line on standard error is right for a row. */
static bool is_right(const kind *k)
{
    static const char mark[] = "timingwheel.h: ", hint[] = "hint: ";
    if (k->words == NULL)
        return said[0] == '\0';
    return strncmp(said, mark, sizeof mark - 1) == 0 &&
           k->is_hint ==
               (strncmp(said + sizeof mark - 1, hint, sizeof hint - 1) == 0) &&
           strstr(said, k->words) != NULL && ends_right() &&
           (strstr(said, "; timer ") != NULL) == k->names_timer &&
           (!k->names_timer || names_a_timer());
}

static void run_row(void)
{
    const row *this_row = &rows[tap_case_index];
    const kind *k = this_row->kind;
    for (size_t run = 0; run < k->runs; run++) {
        set_up();
        damage = damages[run % LENGTH(damages)];
        call = k->first + run;
        if (!CHECK(aborts(this_row->misuse, NULL) != k->is_hint) ||
            !CHECK(is_right(k)))
            printf("# run %u: \"%s\"\n", (unsigned)run, said);
    }
}

/* ------------------------------------- which timer a message is about --- */

/* The timer's link back leads to timer 999. */
static void mislead(tw_timer *timer)
{
    timer->link.prev = &timers[999].link;
}

static void damaged_timer_is_named(void)
{
    static const struct {
        const char *steps;
        size_t timer;
    } messages[] = {
        {"s0,10 S0,20", 0},        {"s0,10 C0", 0},
        {"s0,10 s1,10 x1 a10", 1}, {"s0,10 s1,10 x1 L10,5", 1},
        {"s0,10 s1,10 x1 l10", 1}, {"s0,10 s1,10 x1 d", 1},
        {"s0,10 s1,10 x1 v", 1},   {"s0,10 s1,10 x0 A2,10", 0},
        {"s0,10 s1,10 x1 c0", 1},  {"s0,10 s1,10 X", 999},
    };
    damage = mislead;
    for (size_t i = 0; i < LENGTH(messages); i++) {
        char expected[40];
        snprintf(expected, sizeof expected, "; timer %p,",
                 (const void *)&timers[messages[i].timer]);
        set_up();
        CHECK(aborts(messages[i].steps, NULL) && ends_right());
        if (!CHECK(strstr(said, expected) != NULL && names_a_timer()))
            printf("# \"%s\"\n", said);
    }
}

/* ------------------------------------------------------------- proper use */

static void restart(timingwheel *wheel, tw_timer *timer)
{
    if (tw_now(wheel) < 5000)
        tw_start(wheel, timer, tw_after(tw_now(wheel), 700));
}

static void visit_cancel(tw_timer *timer, void *context)
{
    (void)context;
    tw_cancel(&tw, timer);
}

/* Visits and cancels the timers that wait for this visitor. */
static void visit_nested(tw_timer *timer, void *context)
{
    tw_start(&tw, timer, 20000);
    tw_foreach(&tw, context == NULL ? visit : visit_cancel, NULL);
}

static void use_properly(void)
{
    static tw_timer moved;
    for (size_t i = 0; i < 64; i++) {
        tw_timer_init(&timers[i], restart);
        tw_start(&tw, &timers[i], 600 + i);
        tw_start(&tw, &timers[i], 600 + i / 2);
        if (i % 3 == 0)
            tw_postpone(&tw, &timers[i], 900);
        if (i % 5 == 0)
            tw_cancel(&tw, &timers[i]);
    }
    moved = timers[1]; /* the object was copied before tw_move */
    tw_move(&tw, &timers[1], &moved);
    tw_foreach(&tw, visit, NULL);
    tw_advance_clock(&tw, 650);
    run_steps("n700,3000 a10000");
    CHECK(tw_count(&tw) == 0 && tw_check(&tw));
    for (size_t i = 0; i < 20; i++)
        tw_start(&tw, &timers[i], 10000 + i * 50);
    tw_drain(&tw, visit_nested, NULL);
    tw_drain(&tw, visit_nested, &tw);
    CHECK(tw_drain(&tw, NULL, NULL) == 0 && tw_check(&tw));
    tw_trim(&tw);
    tw_start(&other, &timers[0], 10);
    tw_destroy(&tw);
    tw_destroy(&tw);
    tw_cancel(&tw, &timers[1]);
    tw_cancel(&tw, NULL);
    tw_destroy(&other);
    tw_destroy(NULL);
    CHECK(!tw_is_pending(NULL) && tw_timer_state(NULL) == TW_IDLE);
    CHECK(tw_remaining(NULL, 0) == 0);
}

static void proper_use(void)
{
    set_up();
    if (!CHECK(!aborts(NULL, use_properly) && said[0] == '\0'))
        printf("# \"%s\"\n", said);
}

static const tap_case cases[] = {
    {"proper use says nothing", proper_use},
    {"a message names the damaged timer", damaged_timer_is_named}};

TAP_MAIN_ROWS(rows, run_row, cases)
