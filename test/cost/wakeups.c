/* wakeups.c - how often a loop wakes up and fires nothing (promise 6).
 *
 *     make .build/wakeups && .build/wakeups [CASE...]
 *
 * The loop sleeps for tw_wait, or until a request starts or cancels a timer,
 * and then advances. A wake-up is in vain if tw_wait has set its time and
 * nothing fires. A heap that removes each cancelled timer at once has no vain
 * wake-up in any case. Diagnostics show the figures of each case.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L /* popen */
#include <inttypes.h>
#include <stdio.h>

#define TIMINGWHEEL_IMPLEMENTATION
#define TW_STATIC
#include "../../timingwheel.h"

#include "../lib/random.h"
#include "../lib/tap.h"

enum { TIMERS = 256, REQUESTS = 100 };
static const uint64_t second = 1000000; /* the clock is in microseconds */
static const uint64_t end = UINT64_C(1000000000);
static const uint32_t wheel_sizes[] = {2, 16, 256};

static struct {
    timingwheel tw;
    uint64_t now;
    uint64_t random;
    uint64_t useful, vain; /* wake-ups for a timer, and for nothing */
} loop;
static tw_timer timers[TIMERS];

/* Runs the loop until something else than a timer wakes the loop at `until`. */
static void run_until(uint64_t until)
{
    while (loop.now < until) {
        loop.now += tw_wait(&loop.tw, loop.now, until - loop.now);
        bool has_fired = tw_advance_clock(&loop.tw, loop.now) != 0;
        loop.useful += loop.now < until && has_fired;
        loop.vain += loop.now < until && !has_fired;
    }
}

static void start(tw_timer *timer, uint64_t delay)
{
    CHECK_EQUAL(tw_start_after(&loop.tw, timer, loop.now, delay), TW_OK);
}

/* Thirty requests a second, at random, have a timeout of a second. Each is
 * answered after `percent` of its timeout, or, with 0, at random. */
static void answer_requests(uint64_t percent)
{
    uint64_t answers[REQUESTS], request = 1;
    memset(answers, 0xff, sizeof answers); /* UINT64_MAX: no request */
    while (loop.now < end) {
        unsigned next = 0, unused = 0;
        for (unsigned i = 0; i < REQUESTS; i++) {
            next = answers[i] < answers[next] ? i : next;
            unused = answers[i] == UINT64_MAX ? i : unused;
        }
        if (answers[next] < request) {
            run_until(answers[next]);
            CHECK(tw_cancel(&loop.tw, &timers[next]));
            answers[next] = UINT64_MAX;
        } else {
            run_until(request);
            start(&timers[unused], second);
            answers[unused] = request + second / 100 * percent;
            if (percent == 0)
                answers[unused] += 1 + random_below(&loop.random, second - 1);
            request += 1 + random_below(&loop.random, second / 15);
        }
    }
    CHECK_EQUAL(loop.useful, 0);
}

/* One of ten timers starts, or starts again, twenty times a second. */
static void restart_ten(uint64_t unused)
{
    (void)unused;
    while (loop.now < end) {
        run_until(loop.now + random_below(&loop.random, second / 10));
        start(&timers[random_below(&loop.random, 10)],
              random_below(&loop.random, second));
    }
}

/* Replays a recording of bench/traces. bench/trace.c has its format. */
static void replay(uint64_t is_proxy)
{
    char line[80], kind = '\0';
    uint64_t moment = 0, after, delay = 0;
    unsigned timer = TIMERS;
    FILE *in = popen(is_proxy ? "gzip -dc bench/traces/http-proxy.txt.gz"
                              : "gzip -dc bench/traces/asyncio-http.txt.gz",
                     "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        CHECK(sscanf(line, "%" SCNu64 " %c %u %" SCNu64, &after, &kind, &timer,
                     &delay) >= 3 &&
              timer < TIMERS);
        moment += after;
        run_until(moment);
        if (kind == 'S')
            start(&timers[timer % TIMERS], delay);
        else
            (void)tw_cancel(&loop.tw, &timers[timer % TIMERS]);
    }
    CHECK(in != NULL && pclose(in) == 0);
}

static const struct row {
    const char *name;
    void (*run)(uint64_t parameter);
    uint64_t parameter;
    double most[3]; /* vain wake-ups per second, with each wheel_size */
} rows[] = {
    {"promise 6: requests answered after half of their timeout",
     answer_requests,
     50,
     {0.1, 0.1, 0.1}},
    {"promise 6: requests answered at random",
     answer_requests,
     0,
     {0.1, 0.1, 0.1}},
    {"promise 6: requests answered after 90 % of their timeout",
     answer_requests,
     90,
     {0.1, 0.1, 0.1}},
    {"promise 6: ten timers that restart at random",
     restart_ten,
     0,
     {0.1, 0.1, 0.1}},
    {"promise 6: the timers of a recorded server", replay, 0, {1, 0.3, 0.1}},
    {"promise 6: the timers of a recorded proxy", replay, 1, {0, 0, 0}},
};

static void run_row(void)
{
    const struct row *row = &rows[tap_case_index];
    for (unsigned i = 0; i < 3; i++) {
        tw_config config = {1000, 0, 0, 0, NULL}; /* ticks of 1 ms */
        config.wheel_size = wheel_sizes[i];
        memset(&loop, 0, sizeof loop);
        CHECK_EQUAL(tw_init(&loop.tw, &config), TW_OK);
        row->run(row->parameter);
        double vain = (double)(loop.vain * second) / (double)loop.now;
        CHECK(vain <= row->most[i]);
        printf("# wheel_size %u: %" PRIu64 " wake-ups for a timer; %" PRIu64
               " in vain, %.2f in a second\n",
               (unsigned)config.wheel_size, loop.useful, loop.vain, vain);
        tw_destroy(&loop.tw);
    }
}

int main(int argc, char **argv)
{
    enum { ROWS = sizeof rows / sizeof *rows };
    tap_case cases[ROWS];
    for (unsigned i = 0; i < ROWS; i++)
        cases[i] = (tap_case){rows[i].name, run_row};
    return TAP_RUN(cases, argc, argv);
}
