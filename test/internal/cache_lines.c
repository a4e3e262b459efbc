/* cache_lines.c - posting threads and the wheel's thread write to different
 * cache lines of a mailbox, and a bucket is one cache line.
 *
 *     cache_lines [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>
#include <stdint.h>

static _Alignas(64) unsigned char block[64 + 40000];
static size_t offset, allocated; /* of the wheel from an address of 64 n */

static void *take(size_t size)
{
    allocated = size;
    return block + offset;
}

#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) ((void)(context), (void)(pointer))
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/inside.h"
#include "../lib/tap.h"

/* At every address of a mailbox, no line of 128 bytes holds the list together
 * with the memory before or after the mailbox. */
static void lines_apart(void)
{
    size_t posted_end = offsetof(tw_mailbox, posted) + sizeof(void *);
    CHECK(offsetof(tw_mailbox, posted) >= 128);
    CHECK(sizeof(tw_mailbox) >= posted_end + 128);
    CHECK(offsetof(tw_remote, timer) == 0);
}

/* At every address that is aligned for a pointer, the buckets begin at a cache
 * line, and lie in the block of the wheel with the marks. On 32 bits and less
 * they follow the wheel. */
static void buckets_fit(void)
{
    for (offset = 0; offset < 64; offset += sizeof(uint64_t)) {
        timingwheel tw;
        tw_init(&tw, NULL);
        CHECK_EQUAL(tw_reserve(&tw, 0), TW_OK);
        const twi_wheel *wheel = wheel_at(&tw, 0);
        CHECK((uintptr_t)wheel->buckets % (TWI_LINE != 0 ? 64 : 4) == 0);
        CHECK((size_t)((unsigned char *)wheel->buckets - block) - offset <
              sizeof *wheel + (TWI_LINE != 0 ? 64 : 1));
        CHECK((uintptr_t)(block + offset + allocated) -
                  (uintptr_t)(wheel->marks + 512 / 64) <=
              64); /* bytes left */
        CHECK(sizeof(void *) != 8 || sizeof(twi_bucket) == 64);
        tw_destroy(&tw);
    }
}

/* For test/coverage. Linkers judge the function: test/compile/library.sh. */
static void version_is_called(void)
{
    twi_version();
    CHECK(twi_version == TWI_VERSION);
}

static const tap_case cases[] = {
    {"a bucket is one cache line, in the memory of the wheel", buckets_fit},
    {"posters and collector use different cache lines", lines_apart},
    {"a file refers to the function of its version", version_is_called},
};

TAP_MAIN(cases)
