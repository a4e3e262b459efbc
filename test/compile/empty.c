/* empty.c - a program that does nothing: does a compiler work at all?
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

int main(void)
{
    return EXIT_SUCCESS;
}
