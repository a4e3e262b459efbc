/* mailbox.c - the section TIMINGWHEEL_THREADS, in a single thread. Hooks in the
 * middle of a post and of collecting do the work of another thread. So each
 * interleaving happens in every run. test/threads has real threads.
 *
 *     mailbox [CASE...]
 *
 * The cases are in threads/mailbox.script, in the language of script.h. So this
 * file includes scripts.c, with other timers and more commands: the timers are
 * remotes, and `wakes` counts the calls of wake.
 *
 *     post a 10              requests a start; post_cancel a
 *     collect = 1            nothing can be applied; without a result, all is
 *     settled a, b           also `settled a = false`
 *     meanwhile: post b 5    what another thread does in the middle of the next
 *                            post, or of the next start that allocates memory
 *     zero_memory a          a is zero memory: it has no callback
 *     no_callback a          no_wake
 *     call_with_null a       NULL in place of a, or of the mailbox
 *
 * At the end of a case, all remotes are settled.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stdbool.h>

static bool run_meanwhile(void);

/* Between a post's exchange and its push. */
#undef atomic_compare_exchange_weak_explicit
#define atomic_compare_exchange_weak_explicit(object, expected, desired,      \
                                              success, failure)               \
    (run_meanwhile(),                                                         \
     atomic_compare_exchange_strong_explicit((object), (expected), (desired), \
                                             (success), (failure)))

#define TIMINGWHEEL_THREADS
#define SCRIPT_FILES "test/contract/threads/*.script"
#define SCRIPT_MORE
#define SCRIPT_TIMER tw_remote
#define SCRIPT_TIMER_INIT tw_remote_init
#define SCRIPT_TIMERS 26
#include "scripts.c"

static tw_mailbox box;
static const char *meanwhile; /* an action; NULL: none, or it has run */

/* Also runs when the timingwheel allocates memory. Then false means that this
 * function does not refuse the memory. */
static bool run_meanwhile(void)
{
    const char *action = meanwhile;
    meanwhile = NULL;
    script_run_action(action);
    return false;
}

static void wake(void *context)
{
    if (context != &script)
        script_fail("the context for wake");
    script.wakes++;
}

static void begin_case(void)
{
    meanwhile = NULL;
    memset((void *)&box, 0xa5, sizeof box);
    tw_mailbox_init(&box, &script.tw, wake, &script);
    script.memory.refuses = run_meanwhile;
    script.may_allocate = true; /* tw_collect allocates, too */
}

static void end_case(void)
{
    bool is_good = meanwhile == NULL && tw_collect(&box) == 0;
    for (size_t i = 0; i < 26; i++)
        is_good &= tw_remote_settled(&script.timers[i].timer);
    script_check(here.line, "no request left, and no `meanwhile`", is_good);
}

static void call_with_null(tw_remote *remote)
{
    tw_mailbox nowhere;
    tw_mailbox_init(NULL, &script.tw, wake, &script);
    tw_remote_init(NULL, script_on_fire);
    tw_post_start(NULL, remote, 5);
    tw_post_start(&box, NULL, 5);
    tw_post_cancel(NULL, remote);
    tw_post_cancel(&box, NULL);
    if (tw_collect(NULL) != 0 || !tw_remote_settled(NULL))
        script_fail("nothing from NULL");
    tw_mailbox_init(&nowhere, NULL, NULL, NULL);
    tw_post_start(&nowhere, remote, 5);
    if (tw_collect(&nowhere) != 1 || tw_remote_settled(remote))
        script_fail("a request that stays, without a timingwheel");
    tw_remote_init(remote, script_on_fire);
}

static bool script_more(const char *name)
{
    uint64_t v[2];
#define REMOTE (&script.timers[v[0] % 26].timer)
    if (SCRIPT_IS("case"))
        begin_case();
    else if (SCRIPT_IS("end"))
        end_case();
    else if (SCRIPT_READ("post", 2))
        tw_post_start(&box, REMOTE, v[1]);
    else if (SCRIPT_READ("post_cancel", 1))
        tw_post_cancel(&box, REMOTE);
    else if (SCRIPT_IS("collect"))
        script_compare(tw_collect(&box), 0);
    else if (SCRIPT_READ("settled", 1))
        script_compare(script_named + SCRIPT_FALSE + tw_remote_settled(REMOTE),
                       script_named + SCRIPT_FALSE + true);
    else if (SCRIPT_IS("meanwhile"))
        script_set_action(&meanwhile);
    else if (SCRIPT_READ("zero_memory", 1))
        memset((void *)REMOTE, 0, sizeof *REMOTE);
    else if (SCRIPT_READ("no_callback", 1))
        tw_remote_init(REMOTE, NULL);
    else if (SCRIPT_IS("no_wake"))
        tw_mailbox_init(&box, &script.tw, NULL, NULL);
    else if (SCRIPT_READ("call_with_null", 1))
        call_with_null(REMOTE);
    else
        return false;
    return true;
}
