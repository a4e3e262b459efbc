/* mailbox.pml - a model of the mailbox of timingwheel.h for spin: two threads
 * post starts and cancels of two timers, and one loop sleeps, collects, fires
 * and frees. model.sh goes through every interleaving of it.
 *
 * Each step is one access to memory that threads share. The line of the header
 * that it stands for follows it as [function: code]; model.sh looks whether the
 * header still has that line, in that function. What is called ghost stands for
 * nothing there: it is what is known about the requests from outside.
 *
 * Here memory is sequentially consistent; the orders of the accesses are left
 * to ThreadSanitizer (threads.sh litmus).
 *
 * With BROKEN set one thing is done in another way, and spin has to find what is
 * wrong with it.
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
#define REFUSALS 2 /* starts that the wheel refuses, at most                 */
#endif
#define TIMERS 2
#define NONE 255 /* NULL                                                     */

/* A request; the starts are told apart by numbers from 2. */
#define NOTHING 0
#define CANCEL 1

byte request[TIMERS]; /* tw_remote                                           */
byte next[TIMERS];
byte posted = NONE; /* tw_mailbox                                            */
byte waiting = NONE;
bool awake; /* the eventfd                                                   */

bool pending[TIMERS]; /* the wheel                                           */
byte refusals = REFUSALS;

byte last[TIMERS];     /* ghost: the last request of all                     */
byte applied[TIMERS];  /* ghost: the last one that was applied               */
byte left[TIMERS];     /* ghost: posts that are to come                      */
byte ticket[TIMERS];   /* ghost: numbers the pushes                          */
byte tickets;          /* ghost                                              */
byte served;           /* ghost: the ticket served last in this collecting   */
bool freed[TIMERS];    /* ghost                                              */

/* ------------------------------------------------------- any thread --- */

/* tw_post_start or tw_post_cancel of a timer that has posts left. The choice of
 * it is made at the exchange; what comes before that is the caller's own. */
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
#if BROKEN == 4 /* looked at, then written */
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
#if BROKEN == 6 /* woken before there is anything */
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
        atomic { /* what is over makes no difference any more                */
            t = 0; wanted = 0; was = 0; first = 0
        }
    :: else -> break
    od
}

/* ---------------------------------------------------------- the loop --- */

/* [twi_apply_all: twi_apply(box->tw, remote)] ; `kept` is its answer turned round. */
inline apply(t)
{
    kept = false;
#if BROKEN == 7 /* looked at, and made nothing when it has been applied */
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
#if BROKEN == 3 /* put back whatever is there */
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
#if BROKEN == 1 /* where to go on is looked up when it has been applied */
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
#if BROKEN == 5 /* taken in two steps */
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

/* Fires, or not yet; and frees what may be freed, or keeps it for a while. */
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
end_asleep: /* nobody has to wake it. It does not sleep while a start waits.  */
    if
    :: awake -> skip
    :: waiting != NONE -> skip
    fi;
#if BROKEN == 2 /* the wake-up is cleared behind what it was for */
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
        left[0] = POSTS; /* each may have come to any share of the posts     */
        left[1] = POSTS;
        run poster(0);
        run poster(1);
        run loop()
    };
    /* When nobody can go on: */
    timeout ->
    assert(posted == NONE && waiting == NONE);
    assert(left[0] == 0 && left[1] == 0);
    assert(request[0] == NOTHING && request[1] == NOTHING);
    assert(applied[0] == last[0] && applied[1] == last[1])
}
