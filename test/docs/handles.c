/* handles.c - runs the functions that the manual shows for a program whose
 * start function returns void. After the handles are open there is no memory
 * any more, and still every start succeeds. test/docs/examples.sh writes the
 * functions to header-handles.inc.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../../test/lib/heap.h"

#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <stdio.h>

#define HANDLES 1000
#define STARTS 200000

struct host {
    timingwheel tw;
    size_t handles;
};

struct handle {
    tw_timer timeout;
};

static size_t fired;

static void on_timeout(timingwheel *tw, tw_timer *timer)
{
    (void)tw, (void)timer;
    fired++;
}

int handle_open(struct host *host, struct handle *handle);
void handle_start(struct host *host, struct handle *handle, uint64_t at);
void handle_close(struct host *host, struct handle *handle);

#include "header-handles.inc"

static struct host host;
static struct handle handles[HANDLES];

/* Starts timers over distances of 1 to 2^40, again and again, while the clock
 * moves. Returns how many timers are not pending after their start. */
static size_t start_without_memory(void)
{
    uint64_t random = 1, now = 0;
    size_t refused = 0;
    for (size_t i = 0; i < STARTS; i++) {
        struct handle *handle = &handles[i % HANDLES];
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
        handle_start(&host, handle, tw_after(now, 1 + (random >> 24 >> i % 40)));
        refused += !tw_is_pending(&handle->timeout);
        if (i % 100 == 0)
            tw_advance_clock(&host.tw, now += random >> 54);
    }
    return refused;
}

int main(void)
{
    if (tw_init(&host.tw, NULL) != TW_OK)
        return 1;
    for (size_t i = 0; i < HANDLES; i++)
        if (handle_open(&host, &handles[i]) != TW_OK)
            return 1;
    heap_fail(&heap_by_default, 1, true);
    size_t refused = start_without_memory();
    for (size_t i = 0; i < HANDLES; i++)
        handle_close(&host, &handles[i]);
    printf("%zu starts refused, %zu calls of TW_MALLOC failed\n", refused,
           heap_by_default.failures);
    bool good = refused == 0 && heap_by_default.failures == 0 && fired != 0 &&
                host.handles == 0 && tw_count(&host.tw) == 0;
    tw_destroy(&host.tw);
    return good ? 0 : 1;
}
