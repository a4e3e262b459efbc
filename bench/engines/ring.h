/* SPDX-License-Identifier: MIT
 *
 * ring.h - a circular doubly linked list, for the engines list and radix. The
 * head of a list is a link too. An empty list points to itself.
 */
#ifndef BENCH_RING_H
#define BENCH_RING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ring {
    struct ring *next; /* NULL in an item that is in no list */
    struct ring *previous;
} ring;

static inline void ring_init(ring *head)
{
    head->next = head;
    head->previous = head;
}

static inline bool ring_is_empty(const ring *head)
{
    return head->next == head;
}

static inline void ring_append(ring *head, ring *item)
{
    item->next = head;
    item->previous = head->previous;
    head->previous->next = item;
    head->previous = item;
}

static inline void ring_remove(ring *item)
{
    item->next->previous = item->previous;
    item->previous->next = item->next;
    item->next = NULL;
}

/* Moves all items of `from` to the end of `to`. */
static inline void ring_append_all(ring *to, ring *from)
{
    if (ring_is_empty(from))
        return;
    from->next->previous = to->previous;
    to->previous->next = from->next;
    from->previous->next = to;
    to->previous = from->previous;
    ring_init(from);
}

#endif
