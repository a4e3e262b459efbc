/* mailbox.pml - a model of the mailbox of timingwheel.h for spin. Two threads
 * post starts and cancels of two timers. One loop sleeps, collects, fires and
 * frees. model.sh searches every interleaving.
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

/* [tw_collect: twi_apply(box->tw, oldest);] */
inline apply(t)
{
    atomic { /* [twi_apply: request = atomic_exchange_explicit(&remote->request, TWI_NOTHING,] */
        asked = request[t];
#if BROKEN != 3
        request[t] = NOTHING;
#endif
        assert(asked != NOTHING && asked == last[t]);
        assert(ticket[t] > served);
        served = ticket[t]
    };
    atomic { /* one access, besides those to the timingwheel                 */
        /* [twi_apply: (void)twi_start_slow(tw, timer, deadline, SIZE_MAX);] */
        /* [twi_apply: twi_remove(tw, timer, TW_CANCELLED);] */
        pending[t] = (asked != CANCEL);
        applied[t] = asked
    };
#if BROKEN == 3 /* a read, and NOTHING written after the request is applied */
    request[t] = NOTHING;
#endif
    skip
}

inline collect()
{
#if BROKEN == 5 /* takes the list in two steps */
    remote = posted;
    posted = NONE;
#else
    atomic { /* [tw_collect: atomic_exchange_explicit(&box->posted, (tw_remote *)NULL, TWI_ACQUIRE);] */
        remote = posted;
        posted = NONE
    };
#endif
    atomic { /* only the loop touches the list that it has taken             */
        do
        :: remote != NONE -> /* [tw_collect: for (; remote != NULL; remote = next) {] */
            assert(!freed[remote]);
            after = next[remote]; /* [tw_collect: next = remote->next;] */
            next[remote] = oldest; /* [tw_collect: remote->next = oldest;] */
            oldest = remote; /* [tw_collect: oldest = remote;] */
            remote = after
        :: else -> break
        od
    };
    do
    :: oldest != NONE -> /* [tw_collect: for (; oldest != NULL; oldest = next) {] */
#if BROKEN == 1 /* reads the next remote after applying the request */
        apply(oldest);
        after = next[oldest];
#else
        after = next[oldest]; /* [tw_collect: next = oldest->next;] */
        apply(oldest);
#endif
        oldest = after
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
    byte remote = NONE, oldest = NONE, after, asked;
end_asleep: /* a valid end                                                    */
    awake;
#if BROKEN == 2 /* clears the wake-up after collecting */
    collect();
    awake = false;
#else
    awake = false;
    collect();
#endif
    atomic { served = 0; after = 0; asked = 0 };
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
    assert(posted == NONE);
    assert(left[0] == 0 && left[1] == 0);
    assert(request[0] == NOTHING && request[1] == NOTHING);
    assert(applied[0] == last[0] && applied[1] == last[1])
}
