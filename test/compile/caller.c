/* caller.c - a program of library.sh that refers to one function, CALLED.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../../timingwheel.h"

void (*called)(void) = (void (*)(void))CALLED;

int main(void)
{
    return called == NULL;
}
