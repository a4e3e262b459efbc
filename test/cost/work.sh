#!/bin/sh
# work.sh - runs work.c with a count of the basic blocks that each call of the
# header executes. Prints TAP. Run from the top of the repository.
#
#     test/cost/work.sh [CASE...]
#     CFLAGS=-DTWI_LARGE=256 test/cost/work.sh
#
# The bounds of work.c hold for the blocks of gcc -O1, which are those of the
# source. test/cost counts, and measures no time: bench/ does.
#
# SPDX-License-Identifier: MIT
set -eu
build=.build/work.blocks
mkdir -p "$build"
# shellcheck disable=SC2086
gcc -std=c99 -g -w -O1 ${CFLAGS:-} -fsanitize-coverage=trace-pc -c \
    -DTIMINGWHEEL_IMPLEMENTATION -include test/lib/heap.h -x c \
    -o "$build/wheel.o" timingwheel.h
# shellcheck disable=SC2086
gcc -std=gnu99 -g -O2 ${CFLAGS:-} -include test/lib/heap.h \
    -include timingwheel.h -o "$build/work" test/cost/work.c "$build/wheel.o"
exec "$build/work" "$@"
