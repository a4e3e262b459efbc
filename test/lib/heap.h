/* heap.h - the memory that tests give to the library: it counts what is taken
 * and can run out at any call. Include it before timingwheel.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Is handed to the library as alloc_context, so that the tests notice if one
 * wheel's memory is asked of another's. */
typedef struct heap {
    size_t calls;    /* of TW_MALLOC                                     */
    size_t fail_at;  /* the number of the call that fails; 0: none       */
    bool for_ever;   /* and so do all after it                           */
    size_t failures; /* calls that did                                   */
    size_t blocks;   /* not yet freed ...                                */
    size_t bytes;    /* ... and what they hold                           */
    size_t strays;   /* blocks freed here that came from another heap    */
} heap;

/* Stands before each block; the union keeps what follows it aligned. */
typedef union heap_header {
    struct {
        size_t size;
        heap *owner;
    } block;
    long double widest;
} heap_header;

/* The heap of a wheel that was set up without a config. */
static heap heap_by_default;

static heap *heap_of(void *context)
{
    return context == NULL ? &heap_by_default : (heap *)context;
}

static void *heap_malloc(size_t size, void *context)
{
    heap *h = heap_of(context);
    h->calls++;
    if (h->fail_at != 0 &&
        (h->for_ever ? h->calls >= h->fail_at : h->calls == h->fail_at)) {
        h->failures++;
        return NULL;
    }
    heap_header *header = (heap_header *)malloc(sizeof *header + size);
    if (header == NULL)
        return NULL;
#ifdef __TINYC__ /* other compilers have sanitizers to notice what is read */
    memset(header + 1, 0xa5, size);
#endif
    header->block.size = size;
    header->block.owner = h;
    h->blocks++;
    h->bytes += size;
    return header + 1;
}

static void heap_free(void *pointer, void *context)
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

/* From now on the `nth` call fails, 1 being the next; 0 gives memory back. */
static void heap_fail(heap *h, size_t nth, bool for_ever)
{
    h->fail_at = nth == 0 ? 0 : h->calls + nth;
    h->for_ever = for_ever;
}

#define TW_MALLOC(size, context) heap_malloc((size), (context))
#define TW_FREE(pointer, context) heap_free((pointer), (context))

#endif
