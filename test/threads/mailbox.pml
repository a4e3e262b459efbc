/* mailbox.pml - a model of the mailbox of timingwheel.h for spin. Two threads
 * post starts and cancels of two timers. One loop sleeps, collects, fires and
 * frees. model.sh searches every interleaving of the model.
 *
 * Each step is one access to memory that threads share. Behind the step stands
 * the matching line of the header, as [function: code]. model.sh checks that
 * the header still has the line, in the named function. A ghost variable
 * matches nothing in the header: it records facts about the requests, for
 * assertions.
 *
 * Memory is sequentially consistent in the model. The orders of the accesses
 * are left to ThreadSanitizer (threads.sh litmus).
 *
 * Each value of BROKEN above 0 adds one mistake, and spin must find it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef POSTS
#define POSTS 2 /* of each thread                                            */
#endif
#ifndef REFUSALS
#define REFUSALS 2 /* most starts that the wheel refuses                     */
#endif
#define TIMERS 2
#define NONE 255 /* NULL                                                     */

/* A request: NOTHING, CANCEL, or the number of a start, from 2. */
#define NOTHING 0
#define CANCEL 1

byte request[TIMERS]; /* tw_remote                                           */
byte next[TIMERS];
byte posted = NONE; /* tw_mailbox                                            */
byte waiting = NONE;
bool awake; /* the eventfd                                                   */

bool pending[TIMERS]; /* the wheel                                           */
byte refusals = REFUSALS;

byte last[TIMERS];     /* ghost: the last request                            */
byte applied[TIMERS];  /* ghost: the last applied request                    */
byte left[TIMERS];     /* ghost: posts still to come                         */
byte ticket[TIMERS];   /* ghost: numbers the pushes                          */
byte tickets;          /* ghost                                              */
byte served;           /* ghost: the last ticket served in this collect      */
bool freed[TIMERS];    /* ghost                                              */

/* ------------------------------------------------------- any thread --- */

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
            fi;
#endif
        fi;
        atomic { /* clears dead values, for fewer states                     */
            t = 0; wanted = 0; was = 0; first = 0
        }
    :: else -> break
    od
}

/* ---------------------------------------------------------- the loop --- */

/* [twi_apply_all: twi_apply(box->tw, remote)] ; `kept` is the negated result. */
inline apply(t)
{
    kept = false;
#if BROKEN == 7 /* a read, and NOTHING written after the request is applied */
    atomic {
        asked = request[t];
        assert(ticket[t] > served);
        served = ticket[t]
    };
#else
    atomic { /* [twi_apply: request = atomic_exchange_explicit(&remote->request, nothing,] */
        asked = request[t];
        request[t] = NOTHING;
        assert(asked != NOTHING && asked == last[t]);
        assert(ticket[t] > served);
        served = ticket[t]
    };
#endif
    if
    :: asked == CANCEL -> /* [twi_apply: tw_cancel(tw, &remote->timer);] */
        pending[t] = false;
        applied[t] = asked
    :: asked != CANCEL -> /* [twi_apply: if (tw_start(tw, &remote->timer, request) == TW_OK)] */
        pending[t] = true;
        applied[t] = asked
    :: asked != CANCEL && refusals > 0 ->
        refusals--;
#if BROKEN == 3 /* puts the start back over any later request */
        request[t] = asked;
        kept = true
#else
        atomic { /* [twi_apply: atomic_compare_exchange_strong_explicit(] */
            if
            :: request[t] == NOTHING ->
                request[t] = asked;
                kept = true
            :: else -> skip
            fi
        }
#endif
    fi;
#if BROKEN == 7
    if
    :: !kept -> request[t] = NOTHING
    :: else -> skip
    fi;
#endif
}

inline apply_all(list)
{
    /* twi_reverse */
    remote = list;
    turned = NONE;
    do
    :: remote != NONE ->
        assert(!freed[remote]);
        after = next[remote]; /* [twi_reverse: next = remote->next;] */
        next[remote] = turned; /* [twi_reverse: remote->next = turned;] */
        turned = remote;
        remote = after
    :: else -> break
    od;
    remote = turned;
    do
    :: remote != NONE ->
#if BROKEN == 1 /* reads the next remote after applying the request */
        apply(remote);
        after = next[remote];
#else
        after = next[remote]; /* [twi_apply_all: next = remote->next;] */
        apply(remote);
#endif
        if
        :: kept ->
            next[remote] = waiting; /* [twi_apply_all: remote->next = box->waiting;] */
            waiting = remote /* [twi_apply_all: box->waiting = remote;] */
        :: else -> skip
        fi;
        remote = after
    :: else -> break
    od
}

inline collect()
{
    served = 0;
    refused = waiting; /* [tw_collect: refused = box->waiting;] */
#if BROKEN == 5 /* takes the list in two steps */
    batch = posted;
    posted = NONE;
#else
    atomic { /* [tw_collect: atomic_exchange_explicit(&box->posted, (tw_remote *)NULL, TWI_ACQUIRE);] */
        batch = posted;
        posted = NONE
    };
#endif
    waiting = NONE; /* [tw_collect: box->waiting = NULL;] */
    apply_all(refused);
    apply_all(batch)
}

/* Fires a pending timer, or not yet. Frees a settled timer, or not yet. */
inline advance(t)
{
    if
    :: pending[t] -> pending[t] = false
    :: skip
    fi;
    if
    :: atomic { /* [tw_remote_settled: atomic_load_explicit(&remote->request, TWI_RELAXED) == TWI_NOTHING;] */
            request[t] == NOTHING && !pending[t] && left[t] == 0 &&
                !freed[t] ->
            assert(applied[t] == last[t]);
            freed[t] = true
        }
    :: skip
    fi
}

proctype loop()
{
    byte refused, batch, remote, turned, after, asked;
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
    atomic {
        served = 0; refused = 0; batch = 0; remote = 0; asked = 0; kept = 0
    };
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
