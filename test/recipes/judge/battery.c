/* battery.c - the same cases for every recipe of a loop: see `cases`. judge.py
 * names those that a loop cannot have.
 *
 * Includes a recipe, whose row in judge.py is `loop`, and which has
 *     timers, MS    the timingwheel, and a millisecond in its unit
 *     clock_ns()    the clock; a row may name another as NOW
 *     init(), run(), and stop(), after which run returns, and may run again
 * At each input a recipe calls tw_postpone_after: here the call is an event of
 * the case. Alone, the recipe prints `silence N` when no input has come for 250
 * ms, at last after the end of the input; a row may name another `judge`.
 * Asks judge.py for what a case needs, a line at a time:
 *     event N       input after N ms
 *     quiet         input after a second, in which the program sleeps
 *     stall         SIGSTOP for a second, and input meanwhile
 *     done F L ...  a case has passed: F timers have fired, L of them late
 * No case needs a fast machine: the next input comes when the timers that a
 * case waits for have fired, so a loop that loses one is silent for ever.
 *
 * judge.py defines RECIPE, NOW, WATCH (begins to watch the input), RUN, AGAIN
 * (before each run), RERUN (after an exception), TURN (a turn, for a loop in a
 * callback), LATE (in ms), SEED, BARE (no stdio), SERVER (and PORT), and GATE
 * (callbacks and events are in two threads; the recipe has start and cancel).
 * SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define _WIN32_WINNT 0x0600
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include "random.h"
#include <stdio.h>
static int on_event(timingwheel *tw, tw_timer *timer, uint64_t now);
#define tw_postpone_after(tw, timer, now, delay) on_event(tw, timer, now)
#define main example_main
#include RECIPE
#undef main
#undef tw_postpone_after

enum { MANY = 64, ROUNDS = 20, HOUR = 3600 * 1000 };
static struct entry {
    tw_timer timer;
    uint64_t due;
    bool is_awaited; /* by the case; otherwise it must not fire */
    unsigned fired;  /* how often, in the case */
} entries[MANY], *const a = entries, *const b = a + 1, *const c = a + 2;
static struct test {
    const char *name;
    bool is_timed;                      /* lateness counts */
    void (*go_on)(struct entry *fired); /* NULL: at an event */
} const *test;
static unsigned event, fired, late; /* how many, in the case */
static bool is_wanted, is_done;     /* the next event; the case */
static uint64_t stop_time, event_time, seed = SEED;

#ifdef GATE
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&gate)
#define UNLOCK() pthread_mutex_unlock(&gate)
#define START(timer, due) \
    start(timer, due == UINT64_MAX ? due : due > NOW ? due - NOW : 0)
#define CANCEL(timer) (UNLOCK(), cancel(timer), LOCK())
static void *read_events(void *unused)
{
    pthread_detach(pthread_self());
    while (getchar() != EOF)
        on_event(NULL, NULL, NOW);
    return unused;
}
#else
#define LOCK() (void)0
#define UNLOCK() (void)0
#define START(timer, due) tw_start(&timers, timer, due)
#define CANCEL(timer) tw_cancel(&timers, timer)
#endif

#ifndef BARE
#define print(text) (void)(fputs(text, stdout), fflush(stdout))
#endif
static void say(const char *what, unsigned x, unsigned y, const char *name)
{
    char text[100];
    snprintf(text, sizeof(text), "%s %u %u %s\n", what, x, y, name);
    print(text);
}

static void expect(bool is_right, const char *fault, unsigned x)
{
    if (!is_right)
        say("fault", x, event, fault);
}

static void want(const char *what, unsigned delay)
{
    if (is_wanted)
        return;
    is_wanted = true;
    event_time = NOW + delay * MS;
    say(what, delay, event, test->name);
}

static void go(struct entry *e, uint64_t due)
{
    e->due = due;
    e->is_awaited = true;
    START(&e->timer, due);
}

static void go_after(struct entry *e, unsigned delay)
{
    go(e, NOW + delay * MS);
}

static void off(struct entry *e)
{
    CANCEL(&e->timer);
    e->is_awaited = false;
}

static bool next_run(void);
#ifdef __EMSCRIPTEN__ /* whose run returns at once */
static void run_again(void *unused)
{
    (void)unused;
    if (next_run())
        run();
}
#endif

static void end_run(void)
{
    stop_time = NOW;
    b->fired = 0;
    stop();
#ifdef __EMSCRIPTEN__
    emscripten_async_call(run_again, NULL, 0);
#endif
}

/* The case is over when it waits for nothing any more. */
static void go_on(struct entry *e)
{
    bool is_awaited = is_done;
    test->go_on(e);
    for (e = entries; e < entries + MANY; e++)
        is_awaited |= e->is_awaited;
    if (is_wanted || is_awaited)
        return;
    is_done = true;
    end_run();
}

static void fire(timingwheel *tw, tw_timer *timer)
{
    struct entry *e = TW_OWNER(timer, struct entry, timer);
    uint64_t now = NOW;
    (void)tw;
    LOCK();
#ifdef GATE
    if (tw_is_pending(timer)) { /* started again since the thread took it out */
        UNLOCK();
        return;
    }
#endif
    expect(e->is_awaited, "early: a cancelled timer fires", 0);
    expect(now >= e->due, "early", (unsigned)((e->due - now) / MS));
    e->is_awaited = false;
    e->fired++;
    fired++;
    late += test->is_timed && now > e->due + LATE * MS;
    go_on(e);
    UNLOCK();
}

static int on_event(timingwheel *tw, tw_timer *timer, uint64_t now)
{
    (void)tw, (void)timer;
    LOCK();
    if (is_wanted) {
        is_wanted = false;
        event++;
#ifndef BARE /* an emulator's clock loses time */
        expect(now >= event_time, "early: a delay counts from an old time", 0);
#endif
        go_on(NULL);
    }
    UNLOCK();
#ifdef SERVER
    tw_start(tw, timer, UINT64_MAX); /* a client without one would be closed */
#endif
    return TW_OK;
}

/* ---------------------------------------------------------------- cases --- */

static void run_random(struct entry *e)
{
    for (struct entry *i = entries; i < entries + MANY; i++)
        if (e == NULL || (i == e && e->fired < ROUNDS))
            go(i, NOW + random_below(&seed, 50 * MS + 1));
}

/* By an event or by a callback; then b fires without any input. */
static void cancel_armed(struct entry *e)
{
    if (e == b && event < 2 * ROUNDS) {
        want("event", 20);
    } else if (e == c || (e == NULL && a->is_awaited)) {
        off(a);
    } else if (e == NULL) {
        go_after(a, 30);
        go_after(b, 50);
        if (event % 3 == 0)
            go_after(c, 10);
        else
            want("event", 10);
    }
}

/* In the same event, or in the next one. */
static void restart_last(struct entry *e)
{
    if (e == a) {
        a->due = 0;
        if (event < 3 * ROUNDS)
            want("event", 20);
    } else if (a->due == 0) {
        go_after(a, 50);
        want("event", 0);
    } else if (a->is_awaited && event % 2 == 0) {
        off(a);
        want("event", 0);
    } else {
        off(a);
        go(a, a->due);
    }
}

static void start_earlier(struct entry *e)
{
    if (e == a) {
        go_after(b, 5);
    } else if (event == ROUNDS) {
        off(c);
    } else if (e == b) {
        want("event", 20);
    } else {
        go_after(c, HOUR);
        go_after(a, 10);
    }
}

static void sleep_long(struct entry *e)
{
    const uint64_t due[] = {UINT64_MAX, NOW + INT64_MAX, INT64_MAX,
                            NOW + HOUR * MS, UINT64_MAX};
    if (a->is_awaited)
        off(a);
    if (event > 1 && e == NULL) /* at first without a timer */
        go(a, due[event - 2]);
    if (event < 6)
        want("quiet", 0);
    else if (e == NULL)
        go_after(b, 20);
}

static void fire_at_once(struct entry *e)
{
    if (e == a || e == b) {
        go(e, e == a ? 0 : NOW);
    } else if (event == 1) {
        go(a, 0);
        go(b, NOW);
        go_after(c, 20);
    } else if (e == NULL && event > 50) {
        off(a);
        off(b);
        expect(a->fired > 9 && b->fired > 9, "lost", a->fired + b->fired);
    }
    if (e == NULL && event <= 50)
        want("event", 0);
}

static void work_too_long(struct entry *e)
{
    uint64_t end = NOW + 5 * MS;
    if (e == a) {
        go_after(a, 2); /* the next one first */
        UNLOCK();
        while (NOW < end)
            continue;
        LOCK();
    } else if (e == NULL) {
        if (event == 1) {
            go_after(a, 2);
            go_after(b, 10);
        } else if (event == ROUNDS)
            off(a); /* and it stays off */
        if (event < ROUNDS + 5)
            want("event", event < ROUNDS ? 0 : 10);
    }
}

#ifdef __cplusplus
static void throw_through(struct entry *e)
{
    for (struct entry *i = entries; e == NULL && i < entries + ROUNDS; i++)
        go_after(i, 20 + (unsigned)(i - entries) % 5 * 10);
    if (e != NULL && e < entries + ROUNDS / 2)
        throw e;
}
#endif

/* In a callback and in an event. Then the loop runs again. */
static void stop_it(struct entry *e)
{
    if (e == b) {
        go(b, 0); /* in the next turn, again and again */
    } else if (event == 1 && e == NULL) {
        go(b, 0);
        go_after(c, HOUR);
        go_after(a, 20);
    } else if (event == 3) {
        off(b);
        off(c);
    } else
        end_run(); /* no input comes before the next run */
}

static void stand_still(struct entry *e)
{
    static uint64_t latest;
    if (e != NULL) {
        expect(e->due + MS >= latest, "early: not in order", 0);
        latest = e->due;
    } else if (event == 1) {
        for (struct entry *i = entries; i < entries + MANY; i++)
            go_after(i, 100 + (unsigned)random_below(&seed, 1500));
        want("stall", 0);
    }
}

#ifdef TURN
/* Two callbacks, one in the other, run the loop, which sleeps in each turn. */
static void run_inside(struct entry *e)
{
    if (e == a || e == c) {
        unsigned turns = 0, end = b->fired + ROUNDS;
        if (e == a)
            go_after(c, 20);
        for (; b->fired < end; turns++)
            TURN;
        expect(turns < 10 * ROUNDS, "turns of a loop inside", turns);
        if (e == a)
            off(b);
    } else if (e == b) {
        go_after(b, 5);
    } else {
        if (event == 1) {
            go_after(a, 10);
            go_after(b, 5);
        }
        if (event < ROUNDS)
            want("event", 0);
    }
}
#endif

static void change_many(struct entry *e)
{
    struct entry *other = entries + random_below(&seed, MANY);
    if (event == 2000 || (e != NULL && random_below(&seed, 2) == 0))
        return;
    if (other != e && random_below(&seed, 3) == 0)
        off(other);
    else
        go(other, NOW + random_below(&seed, 30 * MS));
    if (e == NULL)
        want("event", 0);
}

static const struct test cases[] = {
    {"1: random timers of 0 to 50 ms", true, run_random},
    {"2: the armed timer is cancelled", true, cancel_armed},
    {"3: the last timer goes, and comes again", true, restart_last},
    {"4: an earlier timer while the loop sleeps", true, start_earlier},
    {"5: no timer, one for ever, one in an hour", true, sleep_long},
    {"6: delays of 0 without end", false, fire_at_once},
    {"7: a callback slower than its period", false, work_too_long},
#ifdef __cplusplus
    {"8: a callback throws", true, throw_through},
#endif
    {"9: stop", false, stop_it},
    {"10: the process stands still", false, stand_still},
#ifdef TURN
    {"11: a loop in a callback", false, run_inside},
#endif
    {"12: 2000 starts, restarts and cancels", true, change_many},
};

/* Returns false if no case is left. */
static bool next_run(void)
{
    expect(b->fired <= 200, "callbacks after the stop: lost", b->fired);
    expect(test == NULL || stop_time != 0, "the loop ends: lost", 0);
    if (stop_time != 0 && NOW > stop_time + 100 * MS)
        late = fired;
    stop_time = 0;
    if (test != NULL && !is_done) {
        want("event", 20);
        return true;
    }
    if (test != NULL)
        say("done", fired, late, test->name);
    test = test == NULL ? cases : test + 1;
    if (test == cases + sizeof(cases) / sizeof(cases[0]))
        return false;
    is_done = false;
    event = fired = late = 0;
    for (struct entry *e = entries; e < entries + MANY; e++) {
        e->due = e->fired = 0;
        tw_timer_init(&e->timer, fire);
    }
    want("event", 0);
    return true;
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    init(PORT);
    WATCH;
#ifdef __EMSCRIPTEN__
    run_again(NULL);
    emscripten_exit_with_live_runtime();
#endif
    for (;;) {
        LOCK();
        AGAIN;
        bool is_left = next_run();
        UNLOCK();
        if (!is_left)
            return 0;
#ifdef __cplusplus
        for (int thrown = 0; thrown >= 0;)
            try {
                thrown > 0 ? RERUN : RUN;
                thrown = -1;
            } catch (struct entry *) {
                thrown = 1;
            }
#else
        RUN;
#endif
    }
}
