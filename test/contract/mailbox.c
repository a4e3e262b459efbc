/* mailbox.c - the section TIMINGWHEEL_THREADS, in a single thread. Hooks in the
 * middle of a post and of collecting do the work of another thread. So each
 * interleaving happens in every run. test/threads has real threads, and a model
 * with all interleavings of small cases.
 *
 *     mailbox [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#ifdef __TINYC__ /* no atomics */
#include <stdio.h>

int main(void)
{
    puts("1..0 # skipped: this compiler has no atomics");
    return 0;
}

#else
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The work of another thread: runs once, when a hook is next reached. */
static void (*meanwhile)(void);

static void let_others_run(void)
{
    void (*others)(void) = meanwhile;
    meanwhile = NULL;
    if (others != NULL)
        others();
}

/* Between a post's exchange and its push. */
#undef atomic_compare_exchange_weak_explicit
#define atomic_compare_exchange_weak_explicit(object, expected, desired,      \
                                              success, failure)               \
    (let_others_run(),                                                        \
     atomic_compare_exchange_strong_explicit((object), (expected), (desired), \
                                             (success), (failure)))

/* While the wheel allocates memory for a posted start. */
static bool out_of_memory;

static bool refuses(void)
{
    if (out_of_memory)
        let_others_run();
    return out_of_memory;
}

#include "../lib/heap.h"

#define TW_STATIC
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

#define REMOTES 8

static timingwheel tw;
static tw_mailbox box;
static tw_remote remotes[REMOTES];
static tw_remote *const a = &remotes[0], *const b = &remotes[1],
                        *const c = &remotes[2];
static unsigned wake_ups;
static int woken; /* the context of wake */

/* The timers that fired, a letter per timer. */
static char fired[32];
static size_t fired_count;

static void on_fire(timingwheel *wheel, tw_timer *timer)
{
    CHECK(wheel == &tw && fired_count < sizeof(fired) - 1);
    fired[fired_count++] = (char)('a' + ((tw_remote *)timer - remotes));
    fired[fired_count] = '\0';
}

static void on_fire_zero(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    fired[fired_count++] = 'z';
    fired[fired_count] = '\0';
}

static void wake(void *context)
{
    CHECK(context == &woken);
    wake_ups++;
}

static void set_up_full(size_t max_pending)
{
    tw_config config = {0};
    heap_by_default.refuses = refuses;
    config.max_pending = max_pending;
    CHECK(tw_init(&tw, &config) == TW_OK);
    memset((void *)&box, 0xa5, sizeof(box));
    memset((void *)remotes, 0xa5, sizeof(remotes));
    tw_mailbox_init(&box, &tw, wake, &woken);
    for (size_t i = 0; i < REMOTES; i++)
        tw_remote_init(&remotes[i], on_fire);
    wake_ups = 0;
    fired_count = 0;
    fired[0] = '\0';
    meanwhile = NULL;
    out_of_memory = false;
}

static void set_up(void)
{
    set_up_full(0);
}

/* Checks that every request has been applied, and destroys the wheel. */
static void tear_down(void)
{
    CHECK(meanwhile == NULL);
    CHECK(tw_collect(&box) == 0);
    for (size_t i = 0; i < REMOTES; i++)
        CHECK(tw_remote_settled(&remotes[i]));
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* Advances. Returns true if exactly the timers in `which` fired, in order. */
static bool fires(uint64_t now, const char *which)
{
    fired_count = 0;
    fired[0] = '\0';
    tw_advance_clock(&tw, now);
    return strcmp(fired, which) == 0;
}

/* ------------------------------------------------------------- requests --- */

static void start_and_cancel(void)
{
    set_up();
    tw_post_start(&box, a, 10);
    CHECK(!tw_is_pending(&a->timer) && !tw_remote_settled(a));
    CHECK(fires(5, ""));
    CHECK(tw_collect(&box) == 0);
    CHECK(tw_is_pending(&a->timer) && tw_remote_settled(a));
    tw_post_cancel(&box, a);
    CHECK(tw_is_pending(&a->timer) && !tw_remote_settled(a));
    tw_collect(&box);
    CHECK(tw_remote_settled(a));
    CHECK(tw_timer_state(&a->timer) == TW_CANCELLED);
    tw_post_cancel(&box, b); /* was never started */
    tw_post_start(&box, c, 5);
    CHECK(tw_collect(&box) == 0 && tw_timer_state(&b->timer) == TW_IDLE);
    CHECK(fires(100, "c"));
    tear_down();
}

static void cancel_too_late(void)
{
    set_up();
    tw_post_start(&box, a, 10);
    tw_collect(&box);
    tw_post_cancel(&box, a); /* the loop advances before it collects */
    CHECK(fires(10, "a") && !tw_remote_settled(a));
    tw_collect(&box);
    CHECK(tw_remote_settled(a) && fires(100, ""));
    tear_down();
}

static void last_request_wins(void)
{
    set_up();
    tw_post_start(&box, a, 10);
    tw_collect(&box);
    tw_post_start(&box, a, 20); /* moves a pending timer */
    tw_post_cancel(&box, a);
    tw_post_start(&box, a, 30);
    tw_post_start(&box, b, 10);
    tw_post_cancel(&box, b);
    tw_post_cancel(&box, c);
    for (uint64_t i = 0; i < 1000; i++)
        tw_post_start(&box, c, 1020 - i);
    CHECK(wake_ups == 2);
    tw_collect(&box);
    CHECK(tw_count(&tw) == 2 && tw_deadline(&a->timer) == 30);
    CHECK(fires(29, "c") && fires(30, "a"));
    tear_down();
}

/* Timers of one tick fire in the order of their first posts. */
static void order_of_first_posts(void)
{
    set_up();
    tw_post_start(&box, c, 5);
    tw_post_start(&box, a, 5);
    tw_post_start(&box, b, 5);
    tw_post_start(&box, c, 5);
    tw_collect(&box);
    CHECK(fires(5, "cab"));
    tear_down();
}

static void every_deadline(void)
{
    static const uint64_t asked[] = {
        0, 1, UINT64_MAX - 3, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX};
    set_up();
    for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        uint64_t wanted = asked[i] > UINT64_MAX - 3 ? UINT64_MAX : asked[i];
        tw_post_start(&box, &remotes[i], asked[i]);
        CHECK(!tw_remote_settled(&remotes[i]));
        CHECK(tw_collect(&box) == 0 && tw_remote_settled(&remotes[i]));
        CHECK(tw_deadline(&remotes[i].timer) == wanted);
    }
    CHECK(fires(0, "a") && fires(1, "b") && fires(UINT64_MAX - 4, ""));
    tw_post_start(&box, a, 30); /* overdue */
    tw_collect(&box);
    CHECK(tw_wait(&tw, UINT64_MAX - 4, 50) == 0);
    CHECK(fires(UINT64_MAX - 3, "ac") && fires(UINT64_MAX - 1, ""));
    CHECK(fires(UINT64_MAX, "def"));
    tear_down();
}

/* Zero memory is a settled remote without a callback. */
static void zero_remote(void)
{
    static tw_remote zero;
    set_up();
    memset((void *)&zero, 0, sizeof zero);
    CHECK(tw_remote_settled(&zero));
    zero.timer.callback = on_fire_zero;
    tw_post_start(&box, &zero, 5);
    CHECK(wake_ups == 1 && !tw_remote_settled(&zero));
    CHECK(tw_collect(&box) == 0 && tw_is_pending(&zero.timer));
    CHECK(fires(5, "z"));
    tear_down();
}

/* A post wakes the loop only if the mailbox was empty. */
static void wakes_once(void)
{
    set_up();
    tw_post_start(&box, a, 5);
    CHECK(wake_ups == 1);
    tw_post_start(&box, b, 5);
    tw_post_cancel(&box, a);
    CHECK(wake_ups == 1);
    tw_collect(&box);
    tw_post_cancel(&box, b);
    CHECK(wake_ups == 2);
    tw_collect(&box);
    tw_mailbox_init(&box, &tw, NULL, NULL); /* works without `wake` */
    tw_post_start(&box, c, 5);
    tw_collect(&box);
    CHECK(fires(5, "c"));
    tear_down();
}

/* ------------------------------------------------------------- refusals --- */

static void full(void)
{
    set_up_full(1);
    tw_post_start(&box, a, 10);
    tw_post_start(&box, c, 20);
    tw_post_start(&box, b, 20);
    CHECK(tw_collect(&box) == 2);
    CHECK(!tw_remote_settled(b) && !tw_remote_settled(c));
    CHECK(tw_collect(&box) == 2);
    CHECK(fires(10, "a"));
    CHECK(tw_collect(&box) == 1); /* c was posted first */
    CHECK(tw_remote_settled(c) && !tw_remote_settled(b));
    CHECK(fires(20, "c"));
    CHECK(tw_collect(&box) == 0);
    CHECK(fires(20, "b"));
    tear_down();
}

/* A post to a waiting remote leaves the remote in place, and wakes no loop. */
static void posted_while_waiting(void)
{
    set_up_full(1);
    tw_post_start(&box, a, 10);
    tw_post_start(&box, b, 20);
    tw_post_start(&box, c, 20);
    CHECK(tw_collect(&box) == 2);
    wake_ups = 0;
    tw_post_cancel(&box, b);
    tw_post_start(&box, c, 30);
    CHECK(wake_ups == 0);
    CHECK(tw_collect(&box) == 1);
    CHECK(tw_remote_settled(b));
    CHECK(fires(10, "a"));
    CHECK(tw_collect(&box) == 0);
    CHECK(fires(29, "") && fires(30, "c"));
    tear_down();
}

/* Waiting remotes are tried before remotes posted later. */
static void waiting_come_first(void)
{
    set_up_full(1);
    tw_post_start(&box, a, 10);
    tw_post_start(&box, b, 20);
    CHECK(tw_collect(&box) == 1);
    tw_post_cancel(&box, a);
    CHECK(tw_collect(&box) == 1); /* the cancel came after b was tried */
    tw_post_start(&box, c, 20);
    CHECK(tw_collect(&box) == 1);
    CHECK(fires(20, "b"));
    CHECK(tw_collect(&box) == 0);
    CHECK(fires(20, "c"));
    tear_down();
}

/* While the wheel is full, a collect without news touches no waiting start: here
 * the memory of the waiting remotes is zero meanwhile. */
static void waiting_costs_nothing(void)
{
    static tw_remote kept[REMOTES];
    set_up_full(1);
    for (size_t i = 0; i < REMOTES; i++)
        tw_post_start(&box, &remotes[i], 20 + i);
    CHECK(tw_collect(&box) == REMOTES - 1);
    memcpy((void *)kept, (void *)remotes, sizeof kept);
    memset((void *)(remotes + 1), 0, sizeof remotes - sizeof *remotes);
    CHECK(tw_collect(&box) == REMOTES - 1);
    memcpy((void *)remotes, (void *)kept, sizeof kept);
    tw_post_cancel(&box, &remotes[4]);
    CHECK(tw_collect(&box) == REMOTES - 2 && tw_remote_settled(&remotes[4]));
    for (size_t i = 0; i < REMOTES; i++) { /* each in its turn */
        char name[2] = {(char)('a' + i), '\0'};
        CHECK(i == 4 || fires(20 + i, name));
        tw_collect(&box);
    }
    tear_down();
}

/* A cancel of a start that waits, posted behind starts that also wait: the room
 * is taken in order. */
static void cancel_makes_room(void)
{
    set_up_full(1);
    tw_post_start(&box, a, 10);
    tw_post_start(&box, b, 20);
    tw_post_start(&box, c, 30);
    CHECK(tw_collect(&box) == 2);
    tw_post_cancel(&box, a);
    (void)tw_collect(&box); /* b or c gets the room now, or next time */
    CHECK(tw_collect(&box) == 1);
    CHECK(tw_is_pending(&b->timer) && !tw_is_pending(&c->timer));
    CHECK(tw_cancel(&tw, &b->timer)); /* by the wheel's thread */
    CHECK(tw_collect(&box) == 0 && fires(30, "c"));
    tear_down();
}

/* A start of a pending timer that waits needs no room in a full wheel. */
static void waiting_restart_when_full(void)
{
    set_up_full(1);
    tw_post_start(&box, a, 10);
    tw_post_start(&box, b, 20);
    CHECK(tw_collect(&box) == 1);
    out_of_memory = true;
    tw_post_start(&box, a, 70000); /* needs another wheel */
    CHECK(tw_collect(&box) == 2);
    out_of_memory = false;
    CHECK(tw_collect(&box) == 1);
    CHECK(tw_remote_settled(a) && tw_deadline(&a->timer) == 70000);
    CHECK(fires(70000, "a") && tw_collect(&box) == 0 && fires(70000, "b"));
    tear_down();
}

/* The wheel's thread starts a timer whose posted start waits. */
static void waiting_and_started_directly(void)
{
    set_up_full(1);
    tw_post_start(&box, a, 10);
    tw_post_start(&box, b, 20);
    CHECK(tw_collect(&box) == 1);
    CHECK(tw_cancel(&tw, &a->timer));
    CHECK(tw_start(&tw, &b->timer, 90) == TW_OK);
    CHECK(tw_collect(&box) == 0 && tw_deadline(&b->timer) == 20);
    CHECK(fires(20, "b"));
    tear_down();
}

static void no_memory(void)
{
    set_up();
    out_of_memory = true;
    tw_post_start(&box, a, 10);
    CHECK(tw_collect(&box) == 1);
    CHECK(!tw_is_pending(&a->timer) && !tw_remote_settled(a));
    out_of_memory = false;
    CHECK(tw_collect(&box) == 0);
    CHECK(fires(10, "a"));
    tear_down();
}

static void refused_leaves_as_it_was(void)
{
    set_up();
    tw_post_start(&box, a, 10);
    CHECK(tw_collect(&box) == 0);
    out_of_memory = true;
    tw_post_start(&box, a, 1000); /* needs another wheel */
    CHECK(tw_collect(&box) == 1);
    CHECK(tw_is_pending(&a->timer) && tw_deadline(&a->timer) == 10);
    CHECK(fires(10, "a"));
    out_of_memory = false;
    CHECK(tw_collect(&box) == 0);
    CHECK(fires(1000, "a"));
    tear_down();
}

static void destroyed_wheel(void)
{
    set_up();
    tw_destroy(&tw);
    tw_post_start(&box, a, 10);
    tw_post_start(&box, b, 10);
    tw_post_cancel(&box, c);
    CHECK(tw_collect(&box) == 2);
    CHECK(tw_remote_settled(c));
    tw_post_cancel(&box, b);
    CHECK(tw_collect(&box) == 1);
    CHECK(tw_remote_settled(b));
    tw_init(&tw, NULL);
    CHECK(tw_collect(&box) == 0);
    CHECK(fires(10, "a"));
    tear_down();
}

/* ---------------------------------------------- in the middle of a post --- */

static void post_b(void)
{
    tw_post_start(&box, b, 5);
}

/* Another thread pushes between this thread's look at the list and push. */
static void pushed_in_between(void)
{
    set_up();
    meanwhile = post_b;
    tw_post_start(&box, a, 5);
    CHECK(wake_ups == 1);
    tw_collect(&box);
    CHECK(fires(5, "ba"));
    tear_down();
}

static void collect_now(void)
{
    CHECK(tw_collect(&box) == 0);
    CHECK(!tw_remote_settled(a));
}

/* The loop collects in the middle of a post. The list is empty, and the post
 * wakes the loop again. */
static void collected_in_between(void)
{
    set_up();
    post_b();
    meanwhile = collect_now;
    tw_post_start(&box, a, 5);
    CHECK(wake_ups == 2);
    tw_collect(&box);
    CHECK(fires(5, "ba"));
    tear_down();
}

static void post_a_again(void)
{
    tw_post_start(&box, a, 7);
    CHECK(wake_ups == 0); /* the other thread pushes it later */
    collect_now();
}

static void replaced_before_the_push(void)
{
    set_up();
    meanwhile = post_a_again;
    tw_post_start(&box, a, 5);
    CHECK(wake_ups == 1);
    tw_collect(&box);
    CHECK(fires(6, "") && fires(7, "a"));
    tear_down();
}

/* ------------------------------------------ in the middle of collecting --- */

/* Posts during a batch belong to the next batch. */
static void posted_while_collecting(void)
{
    set_up();
    out_of_memory = true;
    tw_post_start(&box, a, 5);
    meanwhile = post_b;
    CHECK(tw_collect(&box) == 1);
    CHECK(wake_ups == 2);
    CHECK(!tw_remote_settled(b));
    out_of_memory = false;
    CHECK(tw_collect(&box) == 0);
    CHECK(fires(5, "ab"));
    tear_down();
}

static void cancel_a(void)
{
    tw_post_cancel(&box, a);
}

/* A refused start that was replaced meanwhile does not replace the later
 * request. */
static void cancelled_while_refused(void)
{
    set_up();
    out_of_memory = true;
    tw_post_start(&box, a, 5);
    meanwhile = cancel_a;
    CHECK(tw_collect(&box) == 0); /* none waits: the cancel is posted */
    CHECK(!tw_remote_settled(a));
    out_of_memory = false;
    CHECK(tw_collect(&box) == 0);
    CHECK(fires(100, ""));
    tear_down();
}

static void restart_a(void)
{
    tw_post_start(&box, a, 9);
}

static void restarted_while_refused(void)
{
    set_up();
    out_of_memory = true;
    tw_post_start(&box, a, 5);
    meanwhile = restart_a;
    CHECK(tw_collect(&box) == 0);
    CHECK(tw_collect(&box) == 1);
    out_of_memory = false;
    CHECK(tw_collect(&box) == 0);
    CHECK(fires(8, "") && fires(9, "a"));
    tear_down();
}

/* -------------------------------------------- with the wheel's thread --- */

static void post_from_callback(timingwheel *wheel, tw_timer *timer)
{
    on_fire(wheel, timer);
    tw_post_start(&box, b, tw_now(wheel));
    CHECK(!tw_is_pending(&b->timer));
}

static void posted_in_a_callback(void)
{
    set_up();
    tw_remote_init(a, post_from_callback);
    tw_post_start(&box, a, 5);
    tw_collect(&box);
    CHECK(fires(50, "a"));
    CHECK(wake_ups == 2);
    tw_collect(&box);
    CHECK(fires(50, "b"));
    tear_down();
}

static void collect_from_callback(timingwheel *wheel, tw_timer *timer)
{
    on_fire(wheel, timer);
    CHECK(tw_collect(&box) == 0);
}

static void collected_in_a_callback(void)
{
    set_up();
    tw_remote_init(a, collect_from_callback);
    tw_post_start(&box, a, 5);
    tw_post_start(&box, c, 5);
    tw_collect(&box);
    tw_post_cancel(&box, c); /* due in the same tick */
    tw_post_start(&box, b, 6);
    CHECK(fires(6, "ab"));
    tear_down();
}

static void free_remote(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel;
    CHECK(tw_remote_settled((tw_remote *)timer));
    free(timer);
}

static void freed_in_its_callback(void)
{
    tw_remote *own = (tw_remote *)malloc(sizeof(*own));
    if (!CHECK(own != NULL))
        return;
    set_up();
    tw_remote_init(own, free_remote);
    tw_post_start(&box, own, 5);
    tw_post_start(&box, a, 5);
    CHECK(tw_collect(&box) == 0);
    CHECK(tw_advance_clock(&tw, 5) == 2);
    tear_down();
}

static void used_directly(void)
{
    set_up();
    CHECK(offsetof(tw_remote, timer) == 0);
    tw_post_start(&box, a, 5);
    tw_collect(&box);
    tw_postpone(&tw, &a->timer, 8);
    CHECK(fires(7, ""));
    tw_cancel(&tw, &a->timer);
    CHECK(tw_remote_settled(a) && !tw_is_pending(&a->timer));
    tw_start(&tw, &a->timer, 9);
    tw_post_start(&box, a, 10); /* not yet collected when a fires */
    CHECK(fires(9, "a"));
    tw_collect(&box);
    CHECK(fires(10, "a"));
    tear_down();
}

/* ------------------------------------------------------------ arguments --- */

static void nothing_given(void)
{
    set_up();
    tw_mailbox_init(NULL, &tw, wake, &woken);
    tw_remote_init(NULL, on_fire);
    tw_post_start(NULL, a, 5);
    tw_post_start(&box, NULL, 5);
    tw_post_cancel(NULL, a);
    tw_post_cancel(&box, NULL);
    CHECK(wake_ups == 0 && tw_remote_settled(a));
    CHECK(tw_remote_settled(NULL));
    CHECK(tw_collect(NULL) == 0);
    tear_down();
}

static void no_wheel(void)
{
    set_up();
    tw_mailbox_init(&box, NULL, NULL, NULL);
    tw_post_start(&box, a, 5);
    tw_post_cancel(&box, b);
    CHECK(tw_collect(&box) == 1);
    tw_post_cancel(&box, a);
    tear_down();
}

static void no_callback(void)
{
    set_up();
    tw_remote_init(a, NULL);
    tw_post_start(&box, a, 5);
    tw_collect(&box);
    CHECK(tw_poll(&tw, 5) == &a->timer);
    tear_down();
}

static const tap_case cases[] = {
    {"posted starts and cancels take effect when collected", start_and_cancel},
    {"a posted cancel after the firing does nothing", cancel_too_late},
    {"the last request wins, and a thousand posts wake once",
     last_request_wins},
    {"requests are applied in the order of their first posts",
     order_of_first_posts},
    {"every 64-bit deadline can be posted", every_deadline},
    {"zero memory is a remote", zero_remote},
    {"a post wakes the loop only if the mailbox was empty", wakes_once},
    {"a start refused for max_pending is kept, counted and tried again", full},
    {"a post about a start that waits replaces it and wakes nobody",
     posted_while_waiting},
    {"starts that wait are applied first", waiting_come_first},
    {"starts that wait cost nothing while the wheel is full",
     waiting_costs_nothing},
    {"a cancel makes room for starts that wait, in order", cancel_makes_room},
    {"a restart that waits is served in a full wheel",
     waiting_restart_when_full},
    {"a start that waits for a timer started directly is served",
     waiting_and_started_directly},
    {"a start refused for memory is kept", no_memory},
    {"a refused start leaves the timer as it was", refused_leaves_as_it_was},
    {"a start posted for a destroyed wheel waits for tw_init", destroyed_wheel},
    {"another push in the middle of a post loses nothing", pushed_in_between},
    {"a collect in the middle of a post loses nothing", collected_in_between},
    {"a request in the middle of a post of its timer wins",
     replaced_before_the_push},
    {"a post during a collect is applied in the next one",
     posted_while_collecting},
    {"a cancel while a start is refused wins", cancelled_while_refused},
    {"a restart while a start is refused wins", restarted_while_refused},
    {"a callback may post to its own wheel", posted_in_a_callback},
    {"a callback may collect", collected_in_a_callback},
    {"a callback may free its remote timer", freed_in_its_callback},
    {"the wheel's thread uses the timer directly", used_directly},
    {"NULL arguments do nothing", nothing_given},
    {"a mailbox without a wheel keeps a start waiting", no_wheel},
    {"a remote timer without a callback is polled", no_callback},
};

TAP_MAIN(cases)

#endif
