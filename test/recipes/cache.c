/* cache.c - a cache whose entries expire when nobody has used them for 3 s. One
 * turn of the loop frees at most 100 entries, even if 1,000 expire at once, and
 * up to 1,000 look-ups that came in time find their entries after a stall:
 *     cc -std=gnu99 -O2 -Wall -Wextra cache.c -o cache && ./cache 3000
 *
 * Type numbers to look up; Ctrl-D is the end. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
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

static const char *look_up(unsigned number, uint64_t to_live)
{
    struct entry *e = cache[number];
    if (e != NULL) {
        tw_postpone_after(&timers, &e->expiry, clock_ns(), to_live);
        return "hit";
    }
    e = malloc(sizeof(*e));
    if (e != NULL)
        *e = (struct entry){number, TW_TIMER_INIT(on_expiry)};
    if (e == NULL ||
        tw_start_after(&timers, &e->expiry, clock_ns(), to_live) != TW_OK) {
        free(e); /* kept without a timer, it would never expire */
        return "miss, and no memory to keep it";
    }
    cache[number] = e;
    return "miss";
}

int main(int argc, char **argv)
{
    uint64_t to_live = (argc > 1 ? strtoull(argv[1], NULL, 10) : 3000) * MS;
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char line[16] = "";
    setvbuf(stdin, NULL, _IONBF, 0); /* a buffer would hide lines from poll */
    setlinebuf(stdout);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    for (unsigned number = 0; number < 1000; number++)
        look_up(number, to_live);
    while (!feof(stdin) && !ferror(stdin)) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
        poll(&input, 1, (int)((wait + MS - 1) / MS)); /* rounded up */
        uint64_t now = clock_ns(); /* first: input up to now is read next */
        for (int i = 0; i < 1000 && poll(&input, 1, 0) > 0; i++) {
            if (fgets(line, sizeof(line), stdin) == NULL) /* of whole lines */
                break;
            unsigned number = (unsigned)strtoul(line, NULL, 10) % 10000;
            printf("%u: %s\n", number, look_up(number, to_live));
        }
        size_t expired = tw_advance_clock_limit(&timers, now, 100);
        if (expired > 0)
            printf("%zu expired, %zu left\n", expired, tw_count(&timers));
    }
    tw_destroy(&timers);
    for (unsigned number = 0; number < 10000; number++)
        free(cache[number]);
    return 0;
}
