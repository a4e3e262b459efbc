/* fuzz.c - a target of clang's libFuzzer: any bytes as a round of operations,
 * judged by the oracle. rounds.h draws the settings and the operations of
 * random.c from the bytes of an input, and the round ends with them. fuzz.sh
 * builds and runs the target.
 *
 * SPDX-License-Identifier: MIT
 */
#define SIZES 7 /* larger wheels take most of the time to set up */
#include "../search/rounds.h"

static const uint8_t *input, *input_end;

/* A drawn number takes no more bytes than its range needs. */
static uint64_t draw(uint64_t below)
{
    uint64_t bits = 0, range = below - 1;
    for (; range != 0; range >>= 8)
        bits = bits << 8 | (input < input_end ? *input++ : 0);
    return below == 0 ? bits : bits % below;
}

static bool goes_on(void)
{
    return input < input_end;
}

static void give_up(void)
{
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = data;
    input_end = data + size;
    play_round(goes_on);
    return 0;
}
