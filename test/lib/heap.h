/* heap.h - the memory that tests give to the library. The heap counts
 * allocations, and any call can fail. Include this file before timingwheel.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The library gets a heap as alloc_context. A block that returns to the wrong
 * heap counts as a stray. */
typedef struct heap {
    size_t calls;          /* of TW_MALLOC, failed calls included */
    size_t fail_at;        /* number of the call that fails, from 1; 0: none */
    bool for_ever;         /* every later call fails, too */
    bool (*refuses)(void); /* decides whether a call fails; may be NULL */
    size_t failures;       /* failed calls */
    size_t blocks;         /* blocks not yet freed */
    size_t bytes;          /* bytes of the blocks not yet freed */
    size_t strays;         /* blocks of a different heap, freed here */
} heap;

/* Stands before each block. The union keeps the block aligned. */
typedef union heap_header {
    struct {
        size_t size;
        heap *owner;
    } block;
    long double widest;
} heap_header;

/* The heap of a timingwheel without an alloc_context. */
static heap heap_by_default;

static inline heap *heap_of(void *context)
{
    return context == NULL ? &heap_by_default : (heap *)context;
}

static inline bool heap_fails(const heap *h)
{
    if (h->refuses != NULL && h->refuses())
        return true;
    return h->fail_at != 0 &&
           (h->for_ever ? h->calls >= h->fail_at : h->calls == h->fail_at);
}

/* With HEAP_FILL, and with tcc, new memory is full of rubbish. Without
 * HEAP_FILL, valgrind and MemorySanitizer report reads of uninitialised
 * memory. */
static inline void *heap_malloc(size_t size, void *context)
{
    heap *h = heap_of(context);
    h->calls++;
    if (heap_fails(h)) {
        h->failures++;
        return NULL;
    }
    heap_header *header = (heap_header *)malloc(sizeof *header + size);
    if (header == NULL)
        return NULL;
#if defined(HEAP_FILL) || defined(__TINYC__)
    memset(header + 1, 0xa5, size);
#endif
    header->block.size = size;
    header->block.owner = h;
    h->blocks++;
    h->bytes += size;
    return header + 1;
}

static inline void heap_free(void *pointer, void *context)
{
    heap *h = heap_of(context);
    heap_header *header = (heap_header *)pointer - 1;
    if (header->block.owner != h) {
        h->strays++;
        return;
    }
    h->blocks--;
    h->bytes -= header->block.size;
    free(header);
}

/* The `nth` call from now fails, from 1, and with `for_ever` every later call.
 * With 0 no call fails any more. */
static inline void heap_fail(heap *h, size_t nth, bool for_ever)
{
    h->fail_at = nth == 0 ? 0 : h->calls + nth;
    h->for_ever = for_ever;
}

#ifndef TW_MALLOC
#define TW_MALLOC(size, context) heap_malloc((size), (context))
#define TW_FREE(pointer, context) heap_free((pointer), (context))
#endif

#endif
