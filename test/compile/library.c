/* library.c - a library for library.sh, which compiles the file as library a
 * and as library b: NAME. IMPLEMENTS adds the implementation, whose TW_MALLOC
 * counts, and USES the functions that call it; a file may do both.
 *
 * SPDX-License-Identifier: MIT
 */
#define JOIN(name, word) name##_##word
#define NAMED(name, word) JOIN(name, word)

#ifdef IMPLEMENTS
#include <stdlib.h>
int NAMED(NAME, allocations);
#define TW_MALLOC(size, context) \
    ((void)(context), NAMED(NAME, allocations)++, malloc(size))
#define TW_FREE(pointer, context) ((void)(context), free(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#endif
#include "timingwheel.h" /* of the folder that library.sh names */

#ifdef USES
void NAMED(NAME, start)(timingwheel *tw, tw_timer *timer);
int NAMED(NAME, run)(void);

void NAMED(NAME, start)(timingwheel *tw, tw_timer *timer)
{
    tw_init(tw, NULL);
    tw_timer_init(timer, NULL);
    tw_start(tw, timer, 5);
}

int NAMED(NAME, run)(void)
{
    static timingwheel tw;
    static tw_timer timer;
    NAMED(NAME, start)(&tw, &timer);
    int fired = (int)tw_advance_clock(&tw, 5);
    tw_destroy(&tw);
    return fired;
}
#endif
