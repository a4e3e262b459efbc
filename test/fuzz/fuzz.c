/* fuzz.c - any bytes as a round of operations, judged by the oracle.
 *
 * rounds.h draws the settings and the operations of random.c from the bytes of
 * an input instead of a generator. The round ends with the bytes. Built with
 * clang's -fsanitize=fuzzer this file is a libFuzzer target. Built with
 * -DFUZZ_REPLAY by any compiler the program runs each file named on the command
 * line once: a test of the corpus, and the way to repeat a finding. fuzz.sh
 * does both.
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

#ifdef FUZZ_REPLAY
int main(int argc, char **argv)
{
    static uint8_t bytes[65536];
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            return 2;
        }
        size_t size = fread(bytes, 1, sizeof bytes, file);
        (void)fclose(file);
        (void)LLVMFuzzerTestOneInput(bytes, size);
    }
    printf("1..1\nok 1 - %d inputs\n", argc - 1);
    return 0;
}
#endif
