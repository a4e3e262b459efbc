/* caller.c - a program of library.sh without an implementation.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../../timingwheel.h"

int main(void)
{
    return tw_after(1, 2) != 3;
}
