/* mailbox.c - the section TIMINGWHEEL_THREADS, in a single thread. Hooks in the
 * middle of a post and of collecting do the work of another thread. So each
 * interleaving happens in every run. test/threads has real threads, and a model
 * with all interleavings of small cases.
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

/* Returns the number of remotes on the list of posted remotes. */
static size_t entries(void)
{
    size_t count = 0;
    for (tw_remote *r = atomic_load(&box.posted); r != NULL; r = r->next)
        count++;
    return count;
}

/* ------------------------------------------------------------- requests --- */

static void start(void)
{
    set_up();
    tw_post_start(&box, a, 10);
    CHECK(!tw_is_pending(&a->timer));
    CHECK(!tw_remote_settled(a));
    CHECK(fires(5, ""));
    CHECK(tw_collect(&box) == 0);
    CHECK(tw_is_pending(&a->timer));
    CHECK(tw_remote_settled(a));
    CHECK(fires(9, ""));
    CHECK(fires(10, "a"));
    CHECK(fires(100, ""));
    tear_down();
}

static void cancel(void)
{
    set_up();
    tw_post_start(&box, a, 10);
    tw_collect(&box);
    tw_post_cancel(&box, a);
    CHECK(tw_is_pending(&a->timer));
    CHECK(!tw_remote_settled(a));
    tw_collect(&box);
    CHECK(tw_remote_settled(a));
    CHECK(tw_timer_state(&a->timer) == TW_CANCELLED);
    CHECK(fires(100, ""));
    tear_down();
}

static void cancel_of_idle(void)
{
    set_up();
    tw_post_cancel(&box, a);
    CHECK(tw_collect(&box) == 0);
    CHECK(tw_timer_state(&a->timer) == TW_IDLE);
    tear_down();
}

static void cancel_too_late(void)
{
    set_up();
    tw_post_start(&box, a, 10);
    tw_collect(&box);
    tw_post_cancel(&box, a); /* at 9, say; but the loop advances before it
                                collects */
    CHECK(fires(10, "a"));
    CHECK(!tw_remote_settled(a));
    tw_collect(&box);
    CHECK(tw_remote_settled(a));
    CHECK(fires(100, ""));
    tear_down();
}

static void start_moves(void)
{
    set_up();
    tw_post_start(&box, a, 10);
    tw_collect(&box);
    tw_post_start(&box, a, 20);
    tw_collect(&box);
    CHECK(tw_count(&tw) == 1);
    CHECK(fires(19, ""));
    CHECK(fires(20, "a"));
    tear_down();
}

static void last_request_wins(void)
{
    set_up();
    tw_post_start(&box, a, 10);
    tw_post_cancel(&box, a);
    tw_post_start(&box, a, 30);
    tw_post_start(&box, b, 10);
    tw_post_cancel(&box, b);
    tw_post_cancel(&box, c);
    tw_post_start(&box, c, 20);
    CHECK(entries() == 3);
    tw_collect(&box);
    CHECK(tw_count(&tw) == 2);
    CHECK(tw_deadline(&a->timer) == 30);
    CHECK(fires(29, "c"));
    CHECK(fires(30, "a"));
    tear_down();
}

static void thousand_posts_are_one(void)
{
    set_up();
    for (uint64_t i = 0; i < 1000; i++)
        tw_post_start(&box, a, 1000 - i);
    CHECK(entries() == 1);
    CHECK(wake_ups == 1);
    tw_collect(&box);
    CHECK(fires(1, "a"));
    CHECK(fires(2000, ""));
    tear_down();
}

/* Timers of one tick fire in the order in which they were started. */
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
        CHECK(tw_collect(&box) == 0);
        CHECK(tw_remote_settled(&remotes[i]));
        CHECK(tw_deadline(&remotes[i].timer) == wanted);
    }
    CHECK(fires(0, "a"));
    CHECK(fires(1, "b"));
    CHECK(fires(UINT64_MAX - 4, ""));
    CHECK(fires(UINT64_MAX - 3, "c"));
    CHECK(fires(UINT64_MAX - 1, ""));
    CHECK(fires(UINT64_MAX, "def"));
    tear_down();
}

static void passed_deadline(void)
{
    set_up();
    tw_advance_clock(&tw, 100);
    tw_post_start(&box, a, 30);
    tw_collect(&box);
    CHECK(tw_wait(&tw, 100, 50) == 0);
    CHECK(fires(100, "a"));
    tear_down();
}

/* ------------------------------------------------------------- wake-ups --- */

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
    tear_down();
}

static void needs_no_wake(void)
{
    set_up();
    tw_mailbox_init(&box, &tw, NULL, NULL);
    tw_post_start(&box, a, 5);
    tw_collect(&box);
    CHECK(fires(5, "a"));
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
    CHECK(entries() == 0 && wake_ups == 0);
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
    CHECK(entries() == 2 && wake_ups == 1);
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
    CHECK(entries() == 1 && wake_ups == 2);
    tw_collect(&box);
    CHECK(fires(5, "ba"));
    tear_down();
}

static void post_a_again(void)
{
    tw_post_start(&box, a, 7);
    CHECK(entries() == 0); /* the other thread pushes it later */
    CHECK(wake_ups == 0);
    collect_now();
}

static void replaced_before_the_push(void)
{
    set_up();
    meanwhile = post_a_again;
    tw_post_start(&box, a, 5);
    CHECK(entries() == 1 && wake_ups == 1);
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
    CHECK(entries() == 1 && wake_ups == 2);
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
    CHECK(!tw_remote_settled(a) && entries() == 1);
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
    CHECK(entries() == 0 && wake_ups == 0);
    CHECK(tw_remote_settled(a));
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

/* At every address of a mailbox, no line of 128 bytes holds the list together
 * with the loop's fields, or with the memory before the mailbox. */
static void lines_apart(void)
{
    size_t posted = offsetof(tw_mailbox, posted);
    size_t wake_end = offsetof(tw_mailbox, context) + sizeof(void *);
    CHECK(posted >= 128);
    CHECK(offsetof(tw_mailbox, tw) >= wake_end + 128);
    CHECK(offsetof(tw_mailbox, waiting) >= wake_end + 128);
}

static const tap_case cases[] = {
    {"a posted start fires", start},
    {"a posted cancel takes effect", cancel},
    {"a posted cancel of an idle timer does nothing", cancel_of_idle},
    {"a posted cancel after the firing does nothing", cancel_too_late},
    {"a posted start of a pending timer moves the timer", start_moves},
    {"the last request wins", last_request_wins},
    {"a thousand posts are one entry", thousand_posts_are_one},
    {"requests are applied in the order of their first posts",
     order_of_first_posts},
    {"every 64-bit deadline can be posted", every_deadline},
    {"a posted deadline that has passed is overdue", passed_deadline},
    {"a post wakes the loop only if the mailbox was empty", wakes_once},
    {"a mailbox works without a wake function", needs_no_wake},
    {"a start refused for max_pending is kept, counted and tried again", full},
    {"a post about a start that waits replaces it and wakes nobody",
     posted_while_waiting},
    {"starts that wait are applied first", waiting_come_first},
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
    {"posters and collector use different cache lines", lines_apart},
};

TAP_MAIN(cases)

#endif
