/* cache.c - a cache whose entries expire when nobody has used them for 3 s. An
 * entry whose time is over is never a hit, however late the loop is. One turn
 * of the loop frees at most 100 entries, even if 1,000 expire at once:
 *     cc -std=gnu99 -O2 -Wall -Wextra cache.c -o cache && ./cache 3000
 *
 * Type numbers to look up; Ctrl-D is the end. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
/* A look-up costs up to 5 units of the limit: its timer moves, cascades up to 3
 * times (49 days), and fires. So look-ups without a pause are no more than a
 * turn can make up for, and the timers do not fall behind. */
enum { LOOK_UPS = 20, LIMIT = 5 * LOOK_UPS };
struct entry {
    unsigned number; /* the key; a real entry has a value, too */
    tw_timer expiry;
};

static timingwheel timers;
static struct entry *cache[10000]; /* by number; NULL: not in the cache */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void on_expiry(timingwheel *tw, tw_timer *timer)
{
    struct entry *e = TW_OWNER(timer, struct entry, expiry);
    (void)tw;
    cache[e->number] = NULL;
    free(e); /* with its timer: a callback may do so */
}

/* Compares the time: a timer may fire late. */
static const char *look_up(unsigned number, uint64_t to_live)
{
    struct entry *e = cache[number];
    uint64_t now = clock_ns();
    bool is_hit = e != NULL && tw_remaining(&e->expiry, now) > 0;
    if (e == NULL && (e = calloc(1, sizeof(*e))) == NULL)
        return "miss, and no memory to keep it";
    if (cache[number] == NULL)
        *e = (struct entry){number, TW_TIMER_INIT(on_expiry)};
    cache[number] = e; /* a miss loads the value here, also a second time */
    tw_postpone_after(&timers, &e->expiry, now, to_live);
    return is_hit ? "hit" : "miss";
}

/* These bytes hold at most LOOK_UPS lines. Half a line waits for the rest
 * while the loop goes on. False: the input has ended. */
static bool read_numbers(uint64_t to_live)
{
    static char text[LOOK_UPS];
    static size_t typed;
    ssize_t more = read(0, text + typed, sizeof(text) - typed);
    char *line = text, *end;
    typed += more > 0 ? (size_t)more : 0;
    while ((end = memchr(line, '\n', typed)) != NULL) {
        unsigned number = (unsigned)strtoul(line, NULL, 10) % 10000;
        printf("%u: %s\n", number, look_up(number, to_live));
        typed -= (size_t)(end + 1 - line);
        line = end + 1;
    }
    typed %= sizeof(text); /* no line is as long */
    memmove(text, line, typed);
    return more > 0;
}

int main(int argc, char **argv)
{
    uint64_t to_live = (argc > 1 ? strtoull(argv[1], NULL, 10) : 3000) * MS;
    struct pollfd input = {.fd = 0, .events = POLLIN};
    bool is_open = true;
    setlinebuf(stdout);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    for (unsigned number = 0; number < 1000; number++)
        look_up(number, to_live);
    while (is_open) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
        if (poll(&input, 1, (int)((wait + MS - 1) / MS)) > 0) /* rounded up */
            is_open = read_numbers(to_live);
        size_t expired = tw_advance_clock_limit(&timers, clock_ns(), LIMIT);
        if (expired > 0)
            printf("%zu expired, %zu left\n", expired, tw_count(&timers));
    }
    tw_destroy(&timers);
    for (unsigned number = 0; number < 10000; number++)
        free(cache[number]);
    return 0;
}
