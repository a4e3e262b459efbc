/* portable.c - the cases of all files with letters.h, on the portable code of
 * the library. The portable code is C99 without builtins and attributes of gcc
 * and clang.
 *
 *     portable [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The system's headers may need to know the compiler. Therefore the headers
 * come first. With KEEP_BUILTINS, the cases run on the code for gcc and
 * clang. */
#ifndef KEEP_BUILTINS
#undef __GNUC__
#undef __clang__
#endif

#define TAP_PART
#include "time.c"
#include "overdue.c"
#include "order.c"
#include "waking_up.c"
#include "postpone.c"
#include "start_within.c"
#include "limit.c"
#include "reserve.c"
#include "callbacks.c"
#include "functions.c"
#include "visiting.c"
#include "inspection.c"
#include "periodic.c"

#define PART(cases)                               \
    {                                             \
        (cases), sizeof(cases) / sizeof(*(cases)) \
    }

static const struct {
    const tap_case *cases;
    size_t count;
} parts[] = {
    PART(time_cases),      PART(overdue_cases),  PART(order_cases),
    PART(waking_up_cases), PART(postpone_cases), PART(start_within_cases),
    PART(limit_cases),     PART(reserve_cases),  PART(callbacks_cases),
    PART(functions_cases), PART(visiting_cases), PART(inspection_cases),
    PART(periodic_cases),
};

int main(int argc, char **argv)
{
    static tap_case cases[1000];
    size_t count = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        memcpy(&cases[count], parts[i].cases, parts[i].count * sizeof *cases);
        count += parts[i].count;
    }
    return tap_run(cases, count, argc, argv);
}
