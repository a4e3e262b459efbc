/* waking_up.c - promises 9 and 10: the next deadline, and wake-ups.
 *
 *     waking_up [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

/* ------------------------------------------------------------ promise 9 --- */

static void next_of_nothing(void)
{
    uint64_t deadline = 42;
    begin();
    CHECK(!tw_next_deadline(&tw, &deadline));
    CHECK(deadline == 42); /* left alone */
    start('a', 5);
    CHECK(tw_next_deadline(&tw, &deadline));
    CHECK(deadline == 5);
    cancel('a');
    deadline = 42;
    CHECK(!tw_next_deadline(&tw, &deadline));
    CHECK(deadline == 42);
    end();
}

static void next_follows_starts(void)
{
    begin();
    start('a', 100000);
    CHECK(next() == 100000);
    start('b', 200000);
    CHECK(next() == 100000);
    start('c', 99999);
    CHECK(next() == 99999);
    start('d', 300);
    CHECK(next() == 300);
    start('e', 3);
    CHECK(next() == 3);
    start('f', 0);
    CHECK(next() == 0);
    end();
}

static void next_follows_firing(void)
{
    begin();
    start('a', 3);
    start('b', 300);
    start('c', 301);
    start('d', 70000);
    start('e', 70001);
    FIRES(next(), "a");
    CHECK(next() == 300);
    FIRES(next(), "b");
    CHECK(next() == 301);
    FIRES(next(), "c");
    CHECK(next() == 70000);
    FIRES(next(), "d");
    CHECK(next() == 70001);
    FIRES(next(), "e");
    CHECK(next() == 12345); /* none */
    end();
}

static void next_is_rounded(void)
{
    set_up(10, 0, 0, 0);
    start('a', 11);
    CHECK(next() == 20);
    start('b', 10);
    CHECK(next() == 10);
    end();
}

static void next_of_overdue(void)
{
    begin_at(100);
    start('b', 200);
    start('a', 7);
    CHECK(next() == 7);
    CHECK(tw_wait(&tw, 100, 50) == 0);
    FIRES(0, "a");
    CHECK(next() == 200);
    start('a', 42); /* timer a has left 7 behind */
    CHECK(next() == 42);
    FIRES(200, "ab");
    end();
}

static void act_note_next(letter *self)
{
    CHECK(tw_next_deadline(&tw, &self->value));
}

/* While a poll, a limit or a callback leaves an overdue timer, the next
 * deadline is never after the clock. */
static void next_of_overdue_left(void)
{
    begin_at(100);
    start('a', 50);
    start('b', 60);
    CHECK(tw_poll(&tw, 100) == timer_of('a'));
    CHECK(next() <= 100);
    start('c', 55);
    FIRES_AT_MOST(1, 100, "b");
    CHECK(next() <= 100);
    start('a', 70);
    start('d', 130);
    when_fired('c', act_note_next, 'c', 0);
    when_fired('a', act_note_next, 'a', 0);
    FIRES(100, "ca");
    CHECK(named('c')->value <= 100);
    CHECK(next() == 130);
    end();
}

static void next_hides_nothing(void)
{
    begin();
    start('b', 400); /* in a coarse wheel */
    FIRES(200, "");
    start('c', 410); /* in the finest wheel, later than timer b */
    CHECK(next() == 400);
    FIRES(399, "");
    FIRES(400, "b");
    CHECK(next() == 410);
    end();
}

static void stale_after_cancel(void)
{
    begin();
    start('a', 1000);
    start('b', 1001); /* in the same bucket of the second wheel */
    cancel('a');
    CHECK(next() <= 1001);
    if (next() < 1001)
        FIRES(next(), ""); /* one useless call */
    CHECK(next() == 1001); /* and never again */
    FIRES(1001, "b");
    end();
}

static void stale_after_postpone(void)
{
    begin();
    start('a', 1000);
    postpone('a', 9000);
    CHECK(next() <= 9000);
    if (next() < 9000)
        FIRES(next(), "");
    CHECK(next() == 9000);
    FIRES(9000, "a");
    end();
}

static void stale_after_restart(void)
{
    begin();
    start('a', 1000);
    start('b', 1001);
    start('a', 1010);
    if (next() < 1001)
        FIRES(next(), "");
    CHECK(next() == 1001);
    FIRES(1010, "ba");
    end();
}

/* An emptied bucket may wake the loop once, when the bucket is due. */
static void once_for_an_emptied_bucket(void)
{
    begin();
    start('a', 10);
    start('b', 11);
    start('c', 5000);
    cancel('a');
    if (next() < 11)
        FIRES(next(), "");
    CHECK(next() == 11); /* a and b are in two buckets */
    cancel('b');
    if (next() < 5000)
        FIRES(next(), "");
    CHECK(next() == 5000);
    FIRES(5000, "c");
    end();
}

static void exact_if_a_later_one_leaves(void)
{
    begin();
    start('a', 1000);
    start('b', 1001);
    cancel('b');
    CHECK(next() == 1000);
    FIRES(1000, "a");
    CHECK(tw_count(&tw) == 0);
    end();
}

static void never_later_than_due(void)
{
    random_state = 5;
    set_up(1, 0, 4, 0);
    for (int step = 0; step < 20000; step++) {
        letter *p = &letters[random_below(26)];
        uint64_t deadline = tw_now(&tw) + random_below(3000), due = UINT64_MAX;
        switch (random_below(4)) {
        case 0:
            tw_cancel(&tw, &p->timer);
            break;
        case 1:
            tw_postpone(&tw, &p->timer, deadline);
            break;
        case 2:
            tw_advance_clock(&tw, tw_now(&tw) + random_below(50));
            break;
        default:
            tw_start(&tw, &p->timer, deadline);
        }
        for (int i = 0; i < 26; i++)
            if (tw_is_pending(&letters[i].timer) &&
                tw_deadline(&letters[i].timer) < due)
                due = tw_deadline(&letters[i].timer);
        CHECK(tw_count(&tw) == 0 || next() <= due);
    }
    end();
}

/* A client has up to `width` requests under way, each with a time-out of 30 s.
 * Answers come after 1 to 100 ms. The loop wakes for answers, and when tw_wait
 * asks for it. Returns the number of useless wake-ups in an hour. */
static size_t request_wake_ups(size_t width, uint64_t pause)
{
    tw_timer requests[3];
    uint64_t answers[3], clock = 0;
    size_t idle = 0;
    begin();
    for (size_t i = 0; i < width; i++) {
        tw_timer_init(&requests[i], NULL);
        answers[i] = 1 + i;
    }
    while (clock < 3600000) {
        size_t first = 0;
        for (size_t i = 1; i < width; i++)
            first = answers[i] < answers[first] ? i : first;
        uint64_t wait = tw_wait(&tw, clock, answers[first] - clock);
        idle += wait < answers[first] - clock;
        clock += wait;
        CHECK(tw_advance_clock(&tw, clock) == 0);
        if (clock < answers[first])
            continue;
        bool was_pending = tw_cancel(&tw, &requests[first]);
        if (!was_pending || pause == 0)
            CHECK(tw_start(&tw, &requests[first], clock + 30000) == TW_OK);
        answers[first] =
            clock + 1 + random_below(was_pending && pause ? pause : 100);
    }
    for (size_t i = 0; i < width; i++)
        tw_cancel(&tw, &requests[i]);
    end();
    return idle;
}

/* No further timer is pending. The requests wake the loop at most once per
 * time-out, less the time that a request was under way, and less a bucket's
 * step. */
static void a_wake_up_per_time_out(void)
{
    random_state = 77;
    size_t most = 3600000 / (30000 - 100 - 256) + 1;
    CHECK(request_wake_ups(1, 0) <= most);
    CHECK(request_wake_ups(1, 50) <= most);
    CHECK(request_wake_ups(3, 0) <= 3 * most);
    CHECK(request_wake_ups(3, 1000) <= 3 * most);
}

static void a_wake_up_per_tick(void)
{
    random_state = 11;
    for (uint32_t size = 2; size <= 4096; size *= 4) {
        size_t distinct = 0, idle = 0;
        static bool taken[2000];
        memset(taken, 0, sizeof taken);
        set_up(1, 0, size, 0);
        deal_tickets(1999);
        for (size_t i = 0; i < TICKETS; i++) {
            distinct += !taken[tw_deadline(&tickets[i].timer)];
            taken[tw_deadline(&tickets[i].timer)] = true;
        }
        CHECK(sleep_through(&idle) == distinct);
        CHECK(idle == 0);
        end();
    }
}

static void idle_wake_ups_are_few(void)
{
    size_t idle = 0, moved = 0;
    random_state = 12;
    set_up(1, 0, 16, 0);
    deal_tickets(100000);
    for (size_t i = 0; i < TICKETS; i += 2, moved++)
        tw_postpone(&tw, &tickets[i].timer, 200000 + random_below(1000));
    sleep_through(&idle);
    CHECK(idle <= moved); /* once for each timer at the most */
    end();
}

/* --------------------------------- requests with one time-out, answered --- */

/* A request, in a list of the requests with one millisecond of answer. */
typedef struct request {
    tw_timer timer;
    struct request *next;
} request;

/* A client with its loop. The client sends `rate` requests per time-out. An
 * answer comes after 1 to `slowest` ms, before the time-out. */
typedef struct client {
    uint64_t time_out; /* ms */
    uint64_t slowest;  /* ms */
    size_t rate;
    uint64_t clock;     /* the reading of the loop, from 0 */
    size_t sent;        /* requests */
    request *requests;  /* all requests, under way or not */
    request *unused;    /* requests not under way, a list */
    request **answers;  /* for each ms of a time-out: the requests */
    uint64_t bucket[8]; /* in each wheel: the last bucket used */
    size_t buckets;     /* used */
    size_t wake_ups;    /* for timers, and for no request and no answer */
} client;

static void client_open(client *c)
{
    size_t most = 2 * c->rate + 2;
    c->requests = (request *)calloc(most, sizeof *c->requests);
    c->answers = (request **)calloc(c->time_out, sizeof *c->answers);
    if (!CHECK(c->requests != NULL && c->answers != NULL))
        abort();
    for (size_t i = 0; i < most; i++) {
        c->requests[i].next = c->unused;
        c->unused = &c->requests[i];
    }
    for (size_t i = 0; i < 8; i++)
        c->bucket[i] = UINT64_MAX;
}

static void client_close(client *c)
{
    free(c->requests);
    free(c->answers);
}

/* The requests are sent at even distances. */
static uint64_t client_next_request(const client *c)
{
    return 1 + c->sent * c->time_out / c->rate;
}

static void client_send(client *c)
{
    request *r = c->unused;
    uint64_t deadline = c->clock + c->time_out;
    uint64_t answered = c->clock + 1 + random_below(c->slowest);
    unsigned level = twi_level_of(&tw, deadline);
    c->unused = r->next;
    tw_timer_init(&r->timer, NULL);
    CHECK(tw_start(&tw, &r->timer, deadline) == TW_OK);
    if (c->bucket[level] != deadline >> (8 * level)) {
        c->bucket[level] = deadline >> (8 * level);
        c->buckets++;
    }
    r->next = c->answers[answered % c->time_out];
    c->answers[answered % c->time_out] = r;
    c->sent++;
}

/* Receives the answers of the current millisecond. */
static void client_receive(client *c)
{
    request **answered = &c->answers[c->clock % c->time_out];
    while (*answered != NULL) {
        request *r = *answered;
        *answered = r->next;
        CHECK(tw_cancel(&tw, &r->timer));
        r->next = c->unused;
        c->unused = r;
    }
}

/* Plays one turn of the loop: sleeps until a request, an answer or a
 * deadline. */
static void client_turn(client *c)
{
    uint64_t next = c->clock + 1, sent_at = client_next_request(c);
    while (next < sent_at && c->answers[next % c->time_out] == NULL)
        next++;
    uint64_t wait = tw_wait(&tw, c->clock, next - c->clock);
    c->wake_ups += wait < next - c->clock;
    c->clock += wait;
    CHECK(tw_advance_clock(&tw, c->clock) == 0);
    if (c->clock < next)
        return;
    client_receive(c);
    while (client_next_request(c) <= c->clock)
        client_send(c);
}

/* Runs the loop for 20 time-outs, or for 4 if there are many requests. */
static unsigned client_run(client *c, uint64_t time_out, uint64_t slowest,
                           size_t rate)
{
    unsigned time_outs = rate > 1000 ? 4 : 20;
    c->time_out = time_out;
    c->slowest = slowest;
    c->rate = rate;
    begin();
    client_open(c);
    while (c->clock < time_outs * c->time_out)
        client_turn(c);
    tw_drain(&tw, NULL, NULL);
    client_close(c);
    return time_outs;
}

static const uint64_t time_outs[] = {100,   256,   300,   512,   1000,
                                     30000, 65536, 70000, 150000};
#define TIME_OUTS (sizeof time_outs / sizeof *time_outs)

/* More than 1,000 requests are sent for some of the time-outs alone. */
static bool is_too_much(size_t rate, size_t i)
{
    return (rate > 1000 && i % 2 == 0 && i + 1 < TIME_OUTS) ||
           (rate > 10000 && i + 2 < TIME_OUTS && i != 3);
}

/* Answers come within half of the time-out. A large bucket that moves down uses
 * buckets, too. stats().cascaded counts its timers. */
static void a_wake_up_per_bucket(void)
{
    random_state = 78;
    for (size_t i = 0; i < TIME_OUTS; i++)
        for (size_t rate = 1; rate <= 100000; rate *= 10)
            for (uint64_t part = 2; part <= 10; part += 8) {
                client c = {0};
                if (is_too_much(rate, i))
                    continue;
                unsigned ran =
                    client_run(&c, time_outs[i], time_outs[i] / part, rate);
                CHECK(c.wake_ups <= c.buckets + stats().cascaded);
                CHECK(rate > 10 || c.wake_ups <= 2 * ran);
                end();
            }
}

/* Answers may come shortly before the time-out, too. When a bucket is due, some
 * of the bucket's requests still wait for their answers. */
static void a_wake_up_per_answer(void)
{
    random_state = 79;
    for (size_t i = 0; i < TIME_OUTS; i++)
        for (size_t rate = 1; rate <= 10000; rate *= 10) {
            client c = {0};
            if (is_too_much(rate, i))
                continue;
            unsigned ran = client_run(&c, time_outs[i], time_outs[i] - 1, rate);
            CHECK(c.wake_ups <= c.sent);
            CHECK(rate > 10 || c.wake_ups <= 4 * ran);
            CHECK(rate > 100 || c.wake_ups <= 15 * ran);
            end();
        }
}

/* ----------------------------------------------------------- promise 10 --- */

static void wait_table(void)
{
    static const struct {
        uint64_t now, longest, expected;
    } rows[] = {
        {0, 1000, 100},       {0, 100, 100},
        {0, 99, 99},          {0, 0, 0},
        {99, 1000, 1},        {100, 1000, 0},
        {101, 1000, 0},       {UINT64_MAX, 7, 0},
        {40, UINT64_MAX, 60}, {0, UINT64_MAX, 100},
    };
    begin();
    start('a', 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(tw_wait(&tw, rows[i].now, rows[i].longest) == rows[i].expected);
    CHECK(tw_now(&tw) == 0); /* asking moves nothing */
    end();
}

static void wait_for_nothing(void)
{
    begin();
    CHECK(tw_wait(&tw, 0, 1234) == 1234);
    CHECK(tw_wait(&tw, 99, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_wait(&tw, 0, 0) == 0);
    end();
}

/* With `longest` UINT64_MAX a loop sleeps for ever. After the clock has begun
 * to run, no deadline within reach is as far away. */
static void wait_for_ever(void)
{
    set_up(3, 0, 0, 0);
    CHECK(tw_wait(&tw, 1, UINT64_MAX) == UINT64_MAX);
    start('a', UINT64_MAX); /* divisible by three */
    CHECK(tw_wait(&tw, 1, UINT64_MAX) == UINT64_MAX - 1);
    start('b', 7);
    CHECK(tw_wait(&tw, 1, UINT64_MAX) == 8);
    cancel('a');
    FIRES(9, "b");
    CHECK(tw_wait(&tw, 9, UINT64_MAX) == UINT64_MAX);
    end();
}

static void wait_by_ticks(void)
{
    set_up(10, 0, 0, 0);
    start('a', 25);
    CHECK(tw_wait(&tw, 25, 100) == 5);
    CHECK(tw_wait(&tw, 29, 100) == 1);
    CHECK(tw_wait(&tw, 30, 100) == 0);
    end();
}

static void wait_after_all_fired(void)
{
    begin();
    start('a', 10);
    start('b', 900);
    FIRES(10, "a");
    CHECK(tw_wait(&tw, 10, 5000) == 890); /* above 0: nothing spins */
    end();
}

static void wait_is_long_enough(void)
{
    random_state = 31;
    set_up(7, 1000, 4, 0);
    for (int i = 0; i < 2000; i++) {
        uint64_t now = tw_now(&tw);
        start('a', now + 1 + random_below(5000));
        uint64_t wait = tw_wait(&tw, now, UINT64_MAX);
        if (wait > 0)
            FIRES(now + wait - 1, "");
        FIRES(now + wait, "a");
    }
    end();
}

static const tap_case waking_up_cases[] = {
    {"promise 9: without pending timers the result is left alone",
     next_of_nothing},
    {"promise 9: the next deadline is exact after each start",
     next_follows_starts},
    {"promise 9: the next deadline is exact after each firing",
     next_follows_firing},
    {"promise 9: the next deadline is rounded up to a tick", next_is_rounded},
    {"promise 9: the next deadline of an overdue timer is the timer's own",
     next_of_overdue},
    {"promise 9: overdue timers that are left keep the next deadline at the "
     "clock",
     next_of_overdue_left},
    {"promise 9: a later timer in a finer wheel does not hide an earlier one",
     next_hides_nothing},
    {"promise 9: a cancel costs at most one call that fires nothing",
     stale_after_cancel},
    {"promise 9: a postpone costs at most one call that fires nothing",
     stale_after_postpone},
    {"promise 9: a restart costs at most one call that fires nothing",
     stale_after_restart},
    {"promise 9: an emptied bucket wakes the loop at most once",
     once_for_an_emptied_bucket},
    {"promise 9: the next deadline stays exact if a later timer leaves",
     exact_if_a_later_one_leaves},
    {"promise 9: the next deadline is never late in random use",
     never_later_than_due},
    {"promise 9: a loop wakes once per distinct tick", a_wake_up_per_tick},
    {"promise 9: each of up to three requests wakes the loop once per time-out",
     a_wake_up_per_time_out},
    {"promise 9: requests answered in half the time-out: one wake-up per "
     "bucket",
     a_wake_up_per_bucket},
    {"promise 9: requests answered just in time: at most one wake-up per "
     "answer",
     a_wake_up_per_answer},
    {"promise 9: each postponed timer costs at most one call that fires "
     "nothing",
     idle_wake_ups_are_few},
    {"promise 10: tw_wait returns the rest of the time, at most the longest "
     "wait",
     wait_table},
    {"promise 10: tw_wait returns `longest` if nothing is pending",
     wait_for_nothing},
    {"promise 10: tw_wait returns UINT64_MAX only if nothing is pending",
     wait_for_ever},
    {"promise 10: tw_wait lasts until the tick begins", wait_by_ticks},
    {"promise 10: tw_wait is above 0 after all due timers have fired",
     wait_after_all_fired},
    {"promise 10: sleeping for tw_wait is exactly long enough",
     wait_is_long_enough},
};

TAP_MAIN(waking_up_cases)
