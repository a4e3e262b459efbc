#!/bin/sh
# coverage.sh - how much of timingwheel.h the tests reach: lines, regions,
# branches and MC/DC conditions, measured by clang-19. Fails below 100 %.
# Prints TAP, and what no test reaches. Run from the top of the repository.
#
#     test/coverage/coverage.sh
#
# MC/DC is modified condition/decision coverage, required in aviation: each
# condition alone turns its decision, from true to false or back, within a test
# program. In `a && b || c`, each of a, b and c must decide alone. At 100 %,
# tests have run all code, but may not have judged every result. Mutants
# (test/mutate) show whether the tests detect a changed result.
#
# SPDX-License-Identifier: MIT
set -u
build=.build/coverage
runs=.build/variant/coverage # where variant.sh leaves programs and profiles
rm -rf "$build"
mkdir -p "$build"
. test/lib/tap.sh

for tool in clang-19 llvm-profdata-19 llvm-cov-19 python3; do
    if ! have "$tool"; then
        skip 'coverage of timingwheel.h' "$tool is missing"
        tap_end
        exit
    fi
done

run_tests() {
    test/lib/variant.sh coverage >"$build/tests" 2>&1 && return
    grep -B 12 '^not ok' "$build/tests"
    return 1
}

# clang warns of a decision that clang cannot measure, and leaves it out.
unmeasured() {
    for debug in -UTW_DEBUG -DTW_DEBUG; do
        clang-19 -std=c11 -fprofile-instr-generate -fcoverage-mapping \
            -fcoverage-mcdc $debug -DTIMINGWHEEL_IMPLEMENTATION \
            -DTIMINGWHEEL_THREADS -x c -c -o "$build/header.o" timingwheel.h
    done
}

merge() {
    llvm-profdata-19 merge -sparse "$runs"/*.profraw -o "$build/profile" ||
        return
    set --
    for profile in "$runs"/*.profraw; do
        set -- "$@" -object "${profile%.profraw}"
    done
    llvm-cov-19 export "$@" -instr-profile="$build/profile" \
        >"$build/coverage.json"
}

expect 'every test passes' run_tests
expect_nothing 'every decision can be measured' unmeasured
expect 'the measurements can be merged' merge
expect '100 % of lines, regions, branches and MC/DC conditions' \
    python3 test/coverage/gaps.py "$build/coverage.json"
tail -n 1 "$build/said"
tap_end
