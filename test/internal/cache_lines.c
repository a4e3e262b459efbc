/* cache_lines.c - posting threads and the wheel's thread write to different
 * cache lines of a mailbox.
 *
 *     cache_lines [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#ifdef __TINYC__ /* no atomics */
int main(void)
{
    puts("1..0 # skipped: this compiler has no atomics");
    return 0;
}
#else

#define TIMINGWHEEL_THREADS
#include "../../timingwheel.h"

#include "../lib/tap.h"

/* At every address of a mailbox, no line of 128 bytes holds the list together
 * with the loop's fields, or with the memory before the mailbox. */
static void lines_apart(void)
{
    size_t wake_end = offsetof(tw_mailbox, context) + sizeof(void *);
    CHECK(offsetof(tw_mailbox, posted) >= 128);
    CHECK(offsetof(tw_mailbox, cancelled) >= 128);
    CHECK(offsetof(tw_mailbox, tw) >= wake_end + 128);
    CHECK(offsetof(tw_mailbox, waiting) >= wake_end + 128);
    CHECK(offsetof(tw_mailbox, waiting_count) >= wake_end + 128);
    CHECK(offsetof(tw_remote, timer) == 0);
}

static const tap_case cases[] = {
    {"posters and collector use different cache lines", lines_apart},
};

TAP_MAIN(cases)
#endif
