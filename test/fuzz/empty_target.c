/* empty_target.c - a fuzz target that does nothing: is libFuzzer there?
 *
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return data == NULL && size != 0;
}
