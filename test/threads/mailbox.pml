/* mailbox.pml - a model of the mailbox of timingwheel.h for spin. Two threads
 * post starts and cancels of two timers. One loop sleeps, collects, fires and
 * frees. Any start may find no memory. model.sh searches every interleaving.
 *
 * Each step is one access to memory that threads share. Behind the step stands
 * the matching line of the header, as [function: code], and model.sh checks
 * that the function has the line. A ghost variable matches nothing in the
 * header: it records facts for assertions. Memory is sequentially consistent;
 * the orders of the accesses are left to ThreadSanitizer (threads.sh litmus).
 *
 * Each value of BROKEN above 0 adds one mistake, and spin must find it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKEN
#define BROKEN 0
#endif
#define POSTS 2    /* of each thread, and of each timer                      */
#define TIMERS 2
#define NONE 255 /* NULL                                                     */
#define NOTHING 0 /* requests; the number of a start is from 2 on            */
#define CANCEL 1

byte request[TIMERS]; /* tw_remote                                           */
byte next[TIMERS];
byte posted = NONE; /* tw_mailbox                                            */
byte waiting = NONE;
bool awake;           /* the eventfd                                         */
bool pending[TIMERS]; /* the timingwheel                                     */

byte last[TIMERS];    /* ghost: the last request                             */
byte applied[TIMERS]; /* ghost: the last applied request                     */
byte left[TIMERS];    /* ghost: posts still to come                          */
byte ticket[TIMERS];  /* ghost: numbers the pushes                           */
byte tickets;         /* ghost                                               */
byte served;          /* ghost: the last ticket served from this list        */
bool freed[TIMERS];   /* ghost                                               */

/* tw_post_start or tw_post_cancel of a timer with posts left. The model chooses
 * the timer at the exchange: earlier steps concern only the caller. */
inline choose(number)
{
    if
    :: left[0] > 0 -> t = 0
    :: left[1] > 0 -> t = 1
    fi;
    if
    :: wanted = CANCEL
    :: wanted = number
    fi;
    left[t]--;
    assert(!freed[t])
}

proctype poster(byte me)
{
    byte n, t, wanted, was, first;
    do
    :: n < POSTS ->
#if BROKEN == 4 /* a read, then a write */
        atomic { choose(2 + me * POSTS + n); was = request[t] };
        atomic { request[t] = wanted; last[t] = wanted };
#else
        atomic { /* [twi_post: atomic_exchange_explicit(&remote->request, request,] */
            choose(2 + me * POSTS + n);
            was = request[t];
            assert(was == NOTHING || was == last[t]);
            request[t] = wanted;
            last[t] = wanted
        };
#endif
        n++;
        if
        :: was != NOTHING -> skip /* [twi_post: TWI_ACQUIRE_RELEASE) != TWI_NOTHING)] */
        :: else ->
#if BROKEN == 6 /* wakes the loop before the push */
            if
            :: posted == NONE -> awake = true
            :: else -> skip
            fi;
#endif
            first = posted; /* [twi_post: first = atomic_load_explicit(&box->posted, TWI_RELAXED);] */
            do
            ::  assert(!freed[t]);
                next[t] = first; /* [twi_post: remote->next = first;] */
                atomic { /* [twi_post: atomic_compare_exchange_weak_explicit(&box->posted, &first, remote,] */
                    if
                    :: posted == first ->
                        posted = t;
                        tickets++;
                        ticket[t] = tickets;
                        break
                    :: else -> first = posted
                    fi
                }
            od;
#if BROKEN != 6
            if
            :: first == NONE -> awake = true /* [twi_post: if (first == NULL && box->wake != NULL)] */
            :: else -> skip
            fi
#endif
        fi;
        atomic { t = 0; wanted = 0; was = 0; first = 0 } /* fewer states      */
    :: else -> break
    od
}

/* [tw_collect: if (twi_apply(box->tw, remote))] ; `kept` is the negated result. */
inline apply(t)
{
    atomic { /* [twi_apply: request = atomic_exchange_explicit(&remote->request, nothing,] */
        asked = request[t];
#if BROKEN != 7 /* a read, and NOTHING written after the request is applied */
        request[t] = NOTHING;
#endif
        assert(asked != NOTHING && asked == last[t]);
        assert(ticket[t] > served);
        served = ticket[t];
        kept = false
    };
    atomic { /* one access, besides those to the timingwheel                 */
        if
        :: asked == CANCEL -> /* [twi_apply: twi_remove(tw, &remote->timer, TW_CANCELLED);] */
            pending[t] = false;
            applied[t] = asked
        :: asked != CANCEL -> /* [twi_apply: done = twi_start_slow(tw, &remote->timer, deadline) == TW_OK;] */
            pending[t] = true;
            applied[t] = asked
        :: asked != CANCEL -> /* no memory                                   */
#if BROKEN == 3 /* puts the start back over any later request */
            request[t] = asked;
            kept = true
#else
            if /* [twi_apply: atomic_compare_exchange_strong_explicit(] */
            :: request[t] == NOTHING ->
                request[t] = asked;
                kept = true
#if BROKEN == 8 /* a refused start waits although a later post replaced it */
            :: else -> kept = true
#else
            :: else -> skip
#endif
            fi
#endif
        fi
    };
#if BROKEN == 7
    if
    :: !kept -> request[t] = NOTHING
    :: else -> skip
    fi;
#endif
    skip
}

/* `at` is the remote whose `next` is meant, or NONE for `waiting`. Only the loop
 * touches these, and the list that it has taken. */
inline get_at(value)
{
    if
    :: at == NONE -> value = waiting
    :: else -> value = next[at]
    fi
}

inline set_at(value)
{
    if
    :: at == NONE -> waiting = value
    :: else -> next[at] = value
    fi
}

inline collect()
{
#if BROKEN == 5 /* takes the list in two steps */
    batch = posted;
    posted = NONE;
#else
    atomic { /* [tw_collect: atomic_exchange_explicit(&box->posted, (tw_remote *)NULL, TWI_ACQUIRE);] */
        batch = posted;
        posted = NONE
    };
#endif
    atomic {
        at = NONE;
        do /* [tw_collect: tw_remote **at = &box->waiting,] */
        ::  get_at(after); /* [tw_collect: while (*at != NULL) at = &(*at)->next;] */
            if
            :: after != NONE -> at = after
            :: else -> break
            fi
        od;
        do
        :: batch != NONE -> /* [tw_collect: for (; remote != NULL; remote = next) {] */
            assert(!freed[batch]);
            after = next[batch]; /* [tw_collect: next = remote->next;] */
            get_at(remote);
            next[batch] = remote; /* [tw_collect: remote->next = *at;] */
            set_at(batch); /* [tw_collect: *at = remote;] */
            batch = after
        :: else -> break
        od;
        at = NONE; /* [tw_collect: at = &box->waiting;] */
        remote = waiting
    };
    do
    :: remote != NONE -> /* [tw_collect: (remote = *at) != NULL;) {] */
#if BROKEN == 1 /* reads the next remote after applying the request */
        apply(remote);
        after = next[remote];
#else
        after = next[remote]; /* [tw_collect: next = remote->next;] */
        apply(remote);
#endif
        atomic {
            if
            :: kept -> at = remote /* [tw_collect: at = &remote->next;] */
            :: else -> set_at(after) /* [tw_collect: *at = next;] */
            fi;
            get_at(remote)
        }
    :: else -> break
    od
}

/* Fires a pending timer, or not yet; frees a settled timer, or not yet. */
inline advance(t)
{
    atomic {
        if
        :: pending[t] -> pending[t] = false
        :: skip
        fi;
        if
        :: request[t] == NOTHING && !pending[t] && left[t] == 0 && !freed[t] -> /* [tw_remote_settled: atomic_load_explicit(&remote->request, TWI_RELAXED) == TWI_NOTHING;] */
            assert(applied[t] == last[t]);
            freed[t] = true
        :: skip
        fi
    }
}

proctype loop()
{
    byte batch = NONE, remote = NONE, at = NONE, after, asked;
    bool kept;
end_asleep: /* a valid end. The loop does not sleep while a start waits.      */
    if
    :: awake -> skip
    :: waiting != NONE -> skip
    fi;
#if BROKEN == 2 /* clears the wake-up after collecting */
    collect();
    awake = false;
#else
    awake = false;
    collect();
#endif
    atomic { served = 0; at = NONE; after = 0; asked = 0; kept = 0 };
    advance(0);
    advance(1);
    goto end_asleep
}

init
{
    atomic {
        left[0] = POSTS; /* the threads share the posts of each timer        */
        left[1] = POSTS;
        run poster(0);
        run poster(1);
        run loop()
    };
    /* When no process can go on: */
    timeout ->
    assert(posted == NONE && waiting == NONE);
    assert(left[0] == 0 && left[1] == 0);
    assert(request[0] == NOTHING && request[1] == NOTHING);
    assert(applied[0] == last[0] && applied[1] == last[1])
}
