/* arena.h - the memory of a search over many small wheels: a stack of blocks.
 *
 * The heap of heap.h would cost more time than the wheels. A search that goes
 * back to an earlier state needs the old blocks at the old addresses. To begin
 * again, set `arena.used` to 0. Include arena.h before timingwheel.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ARENA_ALIGNMENT 64

typedef struct arena_memory {
    union {
        unsigned char bytes[1 << 16];
        uint64_t align;
    } room;
    size_t used; /* bytes */
    size_t live; /* blocks not freed */
} arena_memory;

static arena_memory arena;

static inline void *arena_take(size_t size)
{
    size_t start = arena.used;
    size_t end = start + size + ARENA_ALIGNMENT - 1;
    arena.used = end / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (arena.used > sizeof(arena.room.bytes))
        abort();
    arena.live++;
    return arena.room.bytes + start;
}

static inline void arena_give(void *pointer)
{
    (void)pointer;
    arena.live--;
}

#define TW_MALLOC(size, context) ((void)(context), arena_take(size))
#define TW_FREE(pointer, context) ((void)(context), arena_give(pointer))

#endif
