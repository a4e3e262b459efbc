/* random.c - random operations on the wheel and on the oracle, side by side.
 *
 *     .build/random [--seed S] [--operations N] [--round R]
 *
 * rounds.h draws the operations, operations.h calls the wheel and the oracle,
 * and oracle.h says what must come of a call. A round depends only on the seed
 * and the number of the round. --round R plays one round. A failure prints the
 * last operations and the command that repeats the round.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rounds.h"
#include "../lib/random.h"
#include <signal.h>
#include <time.h>

#ifndef OPERATIONS_BY_DEFAULT
#define OPERATIONS_BY_DEFAULT 2000000
#endif

static uint64_t seed = 1, round_number, numbers;
static const char *program;

static uint64_t draw(uint64_t below)
{
    return random_below(&numbers, below);
}

static bool goes_on(void)
{
    return true;
}

static void give_up(void)
{
    printf("# after %llu operations; to repeat: %s --seed %" PRIu64
           " --round %" PRIu64 "\n",
           run.total, program, seed, round_number);
    printf("not ok 1 - random operations\n");
    exit(1);
}

/* A crash names its round, too. */
static void on_signal(int number)
{
    printf("# step %llu: signal %d\n", run.step, number);
    give_up();
}

int main(int argc, char **argv)
{
    unsigned long long wanted = OPERATIONS_BY_DEFAULT;
    bool one_round = false;
    program = argv[0];
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        uint64_t value = ++i < argc ? strtoull(argv[i], NULL, 10) : 0;
        if (strcmp(option, "--seed") == 0 && i < argc) {
            seed = value;
        } else if (strcmp(option, "--operations") == 0 && i < argc) {
            wanted = value;
        } else if (strcmp(option, "--round") == 0 && i < argc) {
            round_number = value;
            one_round = true;
        } else {
            fprintf(stderr,
                    "usage: %s [--seed S] [--operations N] [--round R]\n",
                    program);
            return 2;
        }
    }
    printf("1..1\n");
    fflush(stdout);
    clock_t begin = clock();
    (void)signal(SIGSEGV, on_signal);
    (void)signal(SIGABRT, on_signal);
    (void)signal(SIGTERM, on_signal); /* takes too long */
    do {
        numbers = seed * UINT64_C(0x9e3779b97f4a7c15) + round_number;
        numbers = random_next(&numbers);
        play_round(goes_on);
        round_number++;
    } while (!one_round && run.total < wanted);
    printf("ok 1 - random operations\n");
    printf("# %llu operations in %.1f s, %" PRIu64 " rounds, seed %" PRIu64
           "\n",
           run.total, (double)(clock() - begin) / CLOCKS_PER_SEC, round_number,
           seed);
    return 0;
}
