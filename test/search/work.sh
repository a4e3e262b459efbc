#!/bin/sh
# work.sh - runs work.c with a count of the basic blocks that each call
# executes. The header is compiled apart, with a call of a counter in each basic
# block. Prints TAP; run from the top of the repository.
#
#     test/search/work.sh [--seed S] [--operations N] [CASE...]
#     CC=clang test/search/work.sh --operations 200000000
#
# CC is the compiler, by default gcc. -O1 keeps the blocks as the source has
# them: at -O2 compilers unroll loops.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
cc=${CC:-gcc}
build=.build/work.$(echo "$cc" | tr -c 'A-Za-z0-9\n' _)
name='the blocks that each call executes'
mkdir -p "$build"

# counts FLAG: does the compiler insert calls of the counter?
counts() {
    # shellcheck disable=SC2086
    $cc "-fsanitize-coverage=$1" -c -o "$build/counts.o" test/compile/empty.c \
        >/dev/null 2>&1 &&
        grep -q __sanitizer_cov_trace_pc "$build/counts.o"
}

# clang leaves out blocks that other blocks imply, unless told not to.
if counts trace-pc,no-prune; then
    flag=-fsanitize-coverage=trace-pc,no-prune
elif counts trace-pc; then
    flag=-fsanitize-coverage=trace-pc
else
    skip "$name" "$cc has no -fsanitize-coverage=trace-pc"
    tap_end
    exit
fi

compile() {
    # shellcheck disable=SC2086
    $cc -std=c99 -O1 -g -DWORK_WHEEL $flag -c -o "$build/wheel.o" \
        test/search/work.c &&
        $cc -std=c99 -O2 -g -DWORK_BLOCKS -o "$build/work" test/search/work.c \
            "$build/wheel.o"
}

if ! compile >"$build/said" 2>&1; then
    fail "$name" "$build/said"
    tap_end
    exit
fi
exec "$build/work" "$@"
