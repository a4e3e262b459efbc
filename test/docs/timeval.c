/* timeval.c - runs the lines that the manual shows for struct timeval: to a
 * reading of the clock, and back from the result of tw_wait.
 * test/docs/examples.sh writes the lines to header-timeval.inc.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <sys/time.h>

int main(void)
{
    struct timeval tv = {7, 999999};
    uint64_t now, wait = UINT64_C(3000001);
#include "header-timeval.inc"
    return now == UINT64_C(7999999) && tv.tv_sec == 3 && tv.tv_usec == 1 ? 0
                                                                         : 1;
}
