/* tap.h - the test harness: named cases, checks, and TAP on standard output.
 *
 *     static void never_early(void) { CHECK(1 + 1 == 2); }
 *
 *     static const tap_case cases[] = {
 *         {"promise 1: never early", never_early},
 *     };
 *
 *     TAP_MAIN(cases)
 *
 * A case passes if no check in the case failed. Words on the command line
 * choose the cases whose names contain at least one of the words. The exit code
 * is 0 if every case passed, 1 if a case failed, and 2 if no case was chosen.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct tap_case {
    const char *name;
    void (*run)(void);
} tap_case;

static unsigned tap_failed_checks; /* in the running case */
static int tap_failed_line;        /* of the last failed check */
static unsigned tap_repeats;       /* of the last failed check, in a row */
static bool tap_is_shown;          /* the last failed check was printed */
static size_t tap_case_index;      /* of the running case */
static const char *tap_case_name;  /* of the running case */

/* Prints the place of a failed check, at most ten times per case, and three
 * times for one line. tap_is_shown then says whether to print more. */
static inline bool tap_check(bool passed, const char *what, const char *file,
                             int line)
{
    if (passed)
        return true;
    tap_repeats = line == tap_failed_line ? tap_repeats + 1 : 1;
    tap_failed_line = line;
    tap_is_shown = ++tap_failed_checks <= 10 && tap_repeats <= 3;
    if (tap_is_shown)
        printf("# %s:%d: failed: %s\n", file, line, what);
    return false;
}

#define CHECK(expr) tap_check((expr), #expr, __FILE__, __LINE__)

static inline bool tap_check_equal(uint64_t got, uint64_t expected,
                                   const char *what, const char *file, int line)
{
    if (!tap_check(got == expected, what, file, line) && tap_is_shown)
        printf("#   got %llu, expected %llu\n", (unsigned long long)got,
               (unsigned long long)expected);
    return got == expected;
}

/* For numbers: also prints the values. */
#define CHECK_EQUAL(got, expected)                         \
    tap_check_equal((uint64_t)(got), (uint64_t)(expected), \
                    #got " == " #expected, __FILE__, __LINE__)

static inline bool tap_is_chosen(const char *name, int argc, char **argv)
{
    if (argc < 2)
        return true;
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]) != NULL)
            return true;
    return false;
}

static inline int tap_run(const tap_case *cases, size_t count, int argc,
                          char **argv)
{
    unsigned number = 0, failed = 0, chosen = 0;
    for (size_t i = 0; i < count; i++)
        chosen += tap_is_chosen(cases[i].name, argc, argv);
    if (chosen == 0) {
        fputs("no case has that in its name\n", stderr);
        return 2;
    }
    printf("1..%u\n", chosen);
    for (size_t i = 0; i < count; i++) {
        if (!tap_is_chosen(cases[i].name, argc, argv))
            continue;
        tap_failed_checks = 0;
        tap_failed_line = 0;
        tap_case_index = i;
        tap_case_name = cases[i].name;
        printf("# case: %s\n", tap_case_name); /* it may crash */
        fflush(stdout);
        cases[i].run();
        printf("%sok %u - %s\n", tap_failed_checks ? "not " : "", ++number,
               tap_case_name);
        fflush(stdout);
        failed += tap_failed_checks != 0;
    }
    return failed != 0;
}

#define TAP_RUN(cases, argc, argv) \
    tap_run((cases), sizeof(cases) / sizeof(*(cases)), (argc), (argv))

/* Defines the main function of a test program. */
#define TAP_MAIN(cases)                    \
    int main(int argc, char **argv)        \
    {                                      \
        return TAP_RUN(cases, argc, argv); \
    }

/* The same for a table of rows. A row is a struct with a member `name`. run_row
 * runs rows[tap_case_index]. */
#define TAP_MAIN_ROWS(rows, run_row)                                \
    int main(int argc, char **argv)                                 \
    {                                                               \
        tap_case cases[sizeof(rows) / sizeof(*rows)];               \
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) { \
            cases[i].name = (rows)[i].name;                         \
            cases[i].run = (run_row);                               \
        }                                                           \
        return TAP_RUN(cases, argc, argv);                          \
    }

#endif
