#!/bin/sh
# work.sh - runs work.c with a count of the basic blocks that each call of the
# header executes. Prints TAP. Run from the top of the repository.
#
#     test/cost/work.sh [CASE...]
#     CC=gcc test/cost/work.sh
#     HEADER=/path/to/timingwheel.h test/cost/work.sh    measures another header
#     CFLAGS=-DTWI_LARGE=256 test/cost/work.sh
#
# The bounds of work.c hold for clang, the default. If two blocks always run
# together, clang counts one. gcc counts every block, about twice as many. -O1
# keeps the blocks as the source has them: -O2 unrolls loops.
#
# test/cost counts, and measures no time: bench/ does.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
cc=${CC:-clang}
build=.build/work.$(echo "$cc" | tr -c 'A-Za-z0-9\n' _)
mkdir -p "$build"
factor=1
$cc --version 2>/dev/null | grep -q clang || factor=2
header=$(realpath "${HEADER:-timingwheel.h}")
flags="-std=c99 -g -DWORK_FACTOR=$factor ${CFLAGS:-}"

# compile FLAG...
compile() {
    # shellcheck disable=SC2086
    $cc $flags "-DHEADER=\"$header\"" "$@"
}

counted() {
    compile -O1 -w -DWORK_WHEEL -fsanitize-coverage=trace-pc -c \
        -o "$build/wheel.o" test/cost/work.c
}

if ! counted >"$build/said" 2>&1; then
    sed 's/^/# /' "$build/said"
    skip 'the blocks of each call' "$cc -fsanitize-coverage=trace-pc fails"
    tap_end
    exit
fi
if ! compile -O2 -o "$build/work" test/cost/work.c "$build/wheel.o" \
    >"$build/said" 2>&1; then
    fail 'work.c compiles' "$build/said"
    tap_end
    exit
fi
exec "$build/work" "$@"
