/* callbacks.c - promise 11, beyond the scripts: what a callback or a visitor
 * may do. Every callback runs through TW_CALL.
 *
 *     callbacks [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>

struct timingwheel;
struct tw_timer;
static void run_callback(struct timingwheel *wheel, struct tw_timer *timer);
#define TW_CALL(tw, timer) run_callback((tw), (timer))

#include "../lib/cases.h"

static bool is_locked;       /* the lock of the loop is taken */
static size_t locked;        /* how often the lock was taken */
static tw_timer *put_off[8]; /* with put_off_count: timers to call later */
static size_t put_off_count;
static bool puts_off;

static void run_callback(timingwheel *wheel, tw_timer *timer)
{
    tw_callback *callback = timer->callback;
    CHECK(wheel == &tw && callback != NULL && !is_locked);
    CHECK_EQUAL(tw_timer_state(timer), TW_FIRED);
    if (puts_off) {
        put_off[put_off_count++] = timer;
        return;
    }
    is_locked = true;
    locked++;
    callback(wheel, timer); /* may free the timer */
    is_locked = false;
}

typedef struct row {
    const char *name;
    void (*act)(item *);
    bool moves; /* the second timer fires later */
} row;

static const row rows[] = {
    {"promise 11: any timer of a bucket may cancel any other one", act_cancel,
     false},
    {"promise 11: any timer of a bucket may restart any other one", act_start,
     true},
    {"promise 11: any timer of a bucket may postpone any other one",
     act_postpone, true},
    {"promise 11: any timer of a bucket may move any other one", act_move,
     false},
};

/* Every pair of 14 timers in one bucket: the first timer acts on the second.
 * The bucket fires from where it stands, or moves down. */
static void run_row(void)
{
    const row *this_row = &rows[tap_case_index];
    const char last = 'n';
    for (char most = 'h'; most <= last; most = (char)(most + last - 'h'))
        for (char from = 'a'; from <= most; from++)
            for (char to = 'a'; to <= most; to++) {
                char expected[16] = "", later[2] = {to, '\0'};
                bool is_ahead = to > from;
                set_up_with(1, 0, 4, 0);
                for (char name = 'a'; name <= most; name++) {
                    char text[2] = {name, '\0'};
                    start(name, 300);
                    if (name == to && is_ahead)
                        strcat(expected, this_row->act == act_move ? "z" : "");
                    else
                        strcat(expected, text);
                }
                when_fired(from, this_row->act, to, 301);
                FIRES(300, expected);
                named(from)->act = NULL;
                FIRES(301, this_row->moves ? later : "");
                tear_down();
            }
}

static void on_fire_free(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel;
    free(timer);
}

static void frees_its_timer(void)
{
    set_up();
    for (uint64_t i = 0; i < 300; i++) {
        tw_timer *timer = (tw_timer *)malloc(sizeof *timer);
        tw_timer_init(timer, on_fire_free);
        CHECK_EQUAL(tw_start(&tw, timer, i / 3 * 100), TW_OK);
    }
    CHECK_EQUAL(tw_advance_clock(&tw, 20000), 300);
    tear_down();
}

static timingwheel other_wheel;
static tw_timer other_timer;

static void act_advance_other(item *self)
{
    self->status = (int)tw_advance_clock(&other_wheel, 100);
}

static void advances_another_wheel(void)
{
    tw_config config = {1, 0, 0, 0, &memory};
    set_up();
    CHECK_EQUAL(tw_init(&other_wheel, &config), TW_OK);
    tw_timer_init(&other_timer, NULL);
    tw_start(&other_wheel, &other_timer, 50);
    start('a', 10);
    when_fired('a', act_advance_other, 'a', 0);
    FIRES(10, "a");
    CHECK(named('a')->status == 1);
    CHECK(tw_now(&other_wheel) == 100 && tw_now(&tw) == 10);
    tw_destroy(&other_wheel);
    tear_down();
}

static void act_destroy(item *self)
{
    tw_destroy(&tw);
    self->status = (int)tw_count(&tw);
}

static void destroy_is_refused(void)
{
    for (uint64_t deadline = 0; deadline <= 10; deadline += 10) {
        set_up();
        START_EACH(deadline, 20, 70000);
        when_fired('a', act_destroy, 'a', 0);
        FIRES(70000, "abc");
        CHECK(named('a')->status == 2);
        tear_down();
    }
}

static void act_cancel_and_wipe(item *self)
{
    act_cancel(self);
    memset((void *)&self->other->timer, 0xa5, sizeof self->other->timer);
}

static void frees_another(void)
{
    set_up();
    START_EACH(10, 10, 10);
    when_fired('a', act_cancel_and_wipe, 'b', 0);
    FIRES(10, "ac");
    tear_down();
}

/* Cancels the timer, or finds the timer idle, and wipes the timer as if the
 * visitor had freed the timer. */
static void visit_and_wipe(tw_timer *timer, void *context)
{
    bool is_drain = tw_timer_state(timer) == TW_IDLE;
    CHECK(is_drain || tw_cancel(&tw, timer));
    CHECK(tw_count(&tw) == (size_t)-- * (int *)context && tw_check(&tw));
    memset((void *)timer, 0xa5, sizeof *timer);
    tw_destroy(&tw); /* is refused */
}

static void visitors_may_free(void)
{
    for (int drains = 0; drains < 2; drains++) {
        int left = 26;
        set_up_at(50);
        for (int i = 0; i < 26; i++)
            start((char)('a' + i), UINT64_C(1) << i);
        CHECK((drains ? tw_drain : tw_foreach)(&tw, visit_and_wipe, &left) ==
              26);
        CHECK(left == 0 && tw_count(&tw) == 0);
        FIRES(UINT64_C(1) << 26, "");
        tear_down();
    }
}

/* -------------------------------------------------------------- TW_CALL --- */

static void only_callbacks_are_called(void)
{
    set_up();
    START_EACH(5, 5, 6, 7, 8);
    tw_timer_init(timer_of('y'), NULL);
    start('y', 5);
    locked = 0;
    CHECK(tw_poll(&tw, 5) == timer_of('a') && cancel('e'));
    CHECK_EQUAL(locked, 0);
    CHECK(tw_advance_clock(&tw, 6) == 3 && locked == 2);
    CHECK(strcmp(fired, "bc") == 0 && state_of('y') == TW_FIRED);
    CHECK(tw_drain(&tw, NULL, NULL) == 1 && locked == 2);
    tear_down();
}

static void callbacks_are_put_off(void)
{
    set_up();
    START_EACH(0, 10, 10, 300, 301);
    puts_off = true;
    put_off_count = 0;
    CHECK_EQUAL(tw_advance_clock(&tw, 5000), 5);
    CHECK(put_off_count == 5 && fired_count == 0 && tw_count(&tw) == 0);
    puts_off = false;
    for (size_t i = 0; i < put_off_count; i++)
        TW_CALL(&tw, put_off[i]);
    CHECK_EQUAL(strcmp(fired, "abcde"), 0);
    tear_down();
}

static const tap_case cases[] = {
    {"promise 11: a callback may free the timer that fired", frees_its_timer},
    {"promise 11: a callback may cancel another timer and free it",
     frees_another},
    {"a visitor may free its timer", visitors_may_free},
    {"promise 11: a callback may advance another timingwheel",
     advances_another_wheel},
    {"promise 11: tw_destroy is refused", destroy_is_refused},
    {"TW_CALL: is for callbacks alone", only_callbacks_are_called},
    {"TW_CALL: callbacks may run after the call", callbacks_are_put_off},
};

TAP_MAIN_ROWS(rows, run_row, cases)
