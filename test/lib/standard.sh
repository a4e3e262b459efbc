#!/bin/sh
# standard.sh - which standard of C a test program is compiled as: C99, like the
# library, but C11 if it has threads. Prints it.
#
#     test/lib/standard.sh FILE
#
# SPDX-License-Identifier: MIT
if grep -q 'define TIMINGWHEEL_THREADS' "$1"; then
    echo c11
else
    echo c99
fi
