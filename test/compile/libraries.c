/* libraries.c - a program of library.sh with libraries a and b (library.c), and
 * an implementation of its own. It shares a timingwheel with a, whose version
 * is the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../../timingwheel.h"
#include <stdio.h>

void a_start(timingwheel *tw, tw_timer *timer);
int a_run(void), b_run(void);
extern int a_allocations, b_allocations;

int main(void)
{
    static timingwheel tw;
    static tw_timer timer;
    a_start(&tw, &timer);
    a_allocations = 0;
    bool shared = tw_poll(&tw, 5) == &timer;
    int fired = a_run() + b_run();
    printf("%d fired, %d and %d allocations, shared: %d\n", fired,
           a_allocations, b_allocations, shared);
    return !(fired == 2 && a_allocations == 1 && b_allocations == 1 && shared);
}
