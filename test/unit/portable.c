/* portable.c - every promise again, as a compiler sees the header that is
 * neither gcc nor clang: without their builtins and attributes, in nothing but
 * C99.
 *
 *     portable [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The system's headers are in already; they may know the compiler. */
#undef __GNUC__
#undef __clang__

#include "promises.c"
