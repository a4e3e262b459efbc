/* exact.c - libcurl's timers against a model, with a clock of our own.
 *
 * Random calls set, clear and complete the time-outs of connected handles, and
 * move the clock. After each curl_multi_socket_action, exactly the due handles
 * have run, once each, in the order of their deadlines. curl_multi_timeout is
 * never late. Early answers are counted. The program runs with the splay tree
 * and with the wheel.
 *
 *     exact [STEPS]
 *
 * SPDX-License-Identifier: MIT */
#include "handles.h"

#include <time.h>

#define HANDLES 200
#define NEVER UINT64_MAX

/* The kinds of time-outs in use. libcurl itself sets no such time-out here. */
#define KINDS 3
static const expire_id kinds[KINDS] = {EXPIRE_TIMEOUT, EXPIRE_SPEEDCHECK,
                                       EXPIRE_TOOFAST};

/* A handle, as libcurl should know the handle. Times are in milliseconds. */
struct model {
    uint64_t deadlines[KINDS]; /* NEVER: not set */
    uint64_t wakes_at;         /* when the handle runs; NEVER: no timer */
    unsigned long runs;        /* calls of on_progress since the last check */
};

static struct model models[HANDLES];
static uint64_t now_ms = 5000000;
static uint64_t latest_run;         /* wakes_at of the last handle that ran */
static unsigned long calls_per_run; /* calls of on_progress for one run */
static unsigned long out_of_order;
static unsigned long handles_run;
static unsigned long answers;
static unsigned long early_answers;
static unsigned long empty_wakes;

/* Takes the place of the C library's function. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    time->tv_sec = (time_t)(now_ms / 1000);
    time->tv_nsec = (long)(now_ms % 1000) * 1000000;
    return 0;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now,
                       curl_off_t upload_total, curl_off_t upload_now)
{
    struct model *m = (struct model *)context;
    (void)total;
    (void)now;
    (void)upload_total;
    (void)upload_now;
    m->runs++;
    out_of_order += m->wakes_at < latest_run ? 1 : 0;
    latest_run = m->wakes_at;
    return 0;
}

static uint64_t earliest_deadline(const struct model *m)
{
    uint64_t earliest = NEVER;
    for (int i = 0; i < KINDS; i++)
        if (m->deadlines[i] < earliest)
            earliest = m->deadlines[i];
    return earliest;
}

/* ----------------------------------------------------------- operations --- */

/* Most delays are short, so that many deadlines are equal. */
static uint64_t random_delay(void)
{
    uint64_t longest = next_random() % 8 == 0 ? 10000000 : 300;
    return next_random() % longest;
}

static void expire(struct Curl_easy *easy, struct model *m)
{
    int kind = (int)(next_random() % KINDS);
    uint64_t delay = random_delay();
    Curl_expire(easy, (timediff_t)delay, kinds[kind]);
    m->deadlines[kind] = now_ms + delay;
    if (now_ms + delay < m->wakes_at)
        m->wakes_at = now_ms + delay;
}

static void clear(struct Curl_easy *easy, struct model *m)
{
    Curl_expire_clear(easy);
    for (int i = 0; i < KINDS; i++)
        m->deadlines[i] = NEVER;
    m->wakes_at = NEVER;
}

/* Removes a time-out. The handle's timer stays, and the handle runs at the
 * timer's time. */
static void complete(struct Curl_easy *easy, struct model *m)
{
    int kind = (int)(next_random() % KINDS);
    Curl_expire_done(easy, kinds[kind]);
    m->deadlines[kind] = NEVER;
}

static void random_operation(struct handles *h)
{
    size_t i = next_random() % HANDLES;
    struct Curl_easy *easy = (struct Curl_easy *)h->easy[i];
    switch (next_random() % 8) {
    case 0:
        clear(easy, &models[i]);
        break;
    case 1:
        complete(easy, &models[i]);
        break;
    default:
        expire(easy, &models[i]);
        break;
    }
}

/* --------------------------------------------------------------- checks --- */

/* Asks libcurl how long to wait. Returns the answer; -1 if without end. */
static long check_wait(struct handles *h)
{
    uint64_t earliest = NEVER;
    long wait;
    for (size_t i = 0; i < HANDLES; i++)
        if (models[i].wakes_at < earliest)
            earliest = models[i].wakes_at;
    curl_multi_timeout(h->multi, &wait);
    answers++;
    if (earliest == NEVER) {
        require(wait == -1, "a time-out without a timer");
        return wait;
    }
    if (earliest < now_ms)
        earliest = now_ms;
    require(wait >= 0, "no time-out, although a timer is pending");
    require((uint64_t)wait <= earliest - now_ms, "the time-out is late");
    early_answers += (uint64_t)wait < earliest - now_ms ? 1 : 0;
    return wait;
}

/* Removes due time-outs from the model of a handle that has run. */
static void after_run(struct model *m)
{
    for (int i = 0; i < KINDS; i++)
        if (m->deadlines[i] <= now_ms)
            m->deadlines[i] = NEVER;
    m->wakes_at = earliest_deadline(m);
}

/* Lets libcurl run all due handles. Returns the number of handles run. */
static unsigned long check_action(struct handles *h)
{
    unsigned long ran = 0;
    int running;
    latest_run = 0;
    curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    for (size_t i = 0; i < HANDLES; i++) {
        struct model *m = &models[i];
        bool due = m->wakes_at <= now_ms;
        require(due || m->runs == 0, "a handle ran that was not due");
        require(!due || m->runs != 0, "a handle was due and did not run");
        require(m->runs <= calls_per_run, "a handle ran twice");
        if (due) {
            ran++;
            after_run(m);
        }
        m->runs = 0;
    }
    require(out_of_order == 0, "handles ran out of order");
    require(running == HANDLES, "a transfer has ended");
    handles_run += ran;
    return ran;
}

/* ----------------------------------------------------------------- runs --- */

static void set_up(struct handles *h)
{
    allow_sockets();
    curl_global_init(CURL_GLOBAL_ALL);
    handles_init(h);
    add_handles(h, HANDLES);
    for (size_t i = 0; i < HANDLES; i++) {
        curl_easy_setopt(h->easy[i], CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(h->easy[i], CURLOPT_XFERINFOFUNCTION, on_progress);
        curl_easy_setopt(h->easy[i], CURLOPT_XFERINFODATA, &models[i]);
        clear((struct Curl_easy *)h->easy[i], &models[i]);
    }
}

/* Runs one handle alone. */
static void count_calls_per_run(struct handles *h)
{
    int running;
    Curl_expire((struct Curl_easy *)h->easy[0], 0, EXPIRE_TIMEOUT);
    curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    calls_per_run = models[0].runs;
    models[0].runs = 0;
    require(calls_per_run != 0, "the handle does not run");
}

static void step(struct handles *h)
{
    long wait;
    for (uint64_t n = next_random() % 20; n > 0; n--)
        random_operation(h);
    wait = check_wait(h);
    if (next_random() % 2 == 0) {
        now_ms += next_random() % 50;
        check_action(h);
    } else if (wait >= 0) {
        now_ms += (uint64_t)wait;
        empty_wakes += check_action(h) == 0 ? 1 : 0;
    }
}

int main(int argc, char **argv)
{
    unsigned long steps = argc > 1 ? strtoul(argv[1], NULL, 10) : 50000;
    static struct handles h;
    set_up(&h);
    count_calls_per_run(&h);
    for (unsigned long i = 0; i < steps; i++)
        step(&h);
    printf("handles run|%lu\n", handles_run);
    printf("early answers in 1000|%lu\n", early_answers * 1000 / answers);
    printf("empty wake-ups in 1000|%lu\n", empty_wakes * 1000 / answers);
    handles_destroy(&h);
    curl_global_cleanup();
    return 0;
}
