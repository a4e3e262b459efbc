#!/bin/sh
# coverage.sh - how much of timingwheel.h the tests reach: lines, regions,
# branches and MC/DC conditions, measured by clang-19. Prints TAP, and after it
# as comments what is not covered. Run from the top of the repository.
#
#     test/coverage/coverage.sh
#
# Every test program has the header's functions to itself. A region or branch
# counts if any of them reaches it; a condition if one of them alone shows that
# it decides, so the MC/DC figure is a lower bound.
#
# SPDX-License-Identifier: MIT
set -u

# Below these percentages it fails.
least=100

# Lines of test code to one of the header, comments and blank lines apart.
least_ratio=5

build=.build/coverage
programs=$(test/lib/programs.sh) || exit 2
programs="$programs test/targets/trace.c"

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

# ------------------------------------------------------------- the tests ---

measuring='-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc'

# Fewer operations and states: more of them reach nothing more.
options_of() {
    case $1 in
    random) echo --operations 300000 ;;
    exhaustive | states) echo --quick ;;
    trace) echo 100000 ;;
    esac
}

# run_one SOURCE: builds and runs it; whether it passed is left in NAME.status.
run_one() {
    test=$(basename "$1" .c)
    # shellcheck disable=SC2046,SC2086
    clang-19 -std="$(test/lib/standard.sh "$1")" -O1 -w $measuring \
        -o "$build/$test" "$1" >"$build/$test.out" 2>&1 &&
        LLVM_PROFILE_FILE=$build/$test.profraw "$build/$test" \
            $(options_of "$test") >"$build/$test.out" 2>&1
    echo $? >"$build/$test.status"
}

passed() {
    [ "$(cat "$build/$1.status")" = 0 ] ||
        { grep '^not ok' "$build/$1.out" || tail -n 20 "$build/$1.out"; false; }
}

objects=
for source in $programs; do
    run_one "$source" &
    objects="$objects -object $build/$(basename "$source" .c)"
    pending="${pending:-} $source"
    # As many at a time as there are processors on a small machine.
    case $pending in *\ *\ *) wait && pending= ;; esac
done
wait
for source in $programs; do
    test=$(basename "$source" .c)
    expect "$test passes" passed "$test"
done

# --------------------------------------------------------------- figures ---

# What clang cannot measure it warns of, and leaves out.
unmeasured() {
    for debug in -UTW_DEBUG -DTW_DEBUG; do
        # shellcheck disable=SC2086
        clang-19 -std=c11 $measuring $debug -DTIMINGWHEEL_IMPLEMENTATION \
            -DTIMINGWHEEL_THREADS -x c -c \
            -o "$build/header.o" timingwheel.h
    done
}
expect_nothing 'every decision can be measured' unmeasured

merge() {
    # shellcheck disable=SC2086
    llvm-profdata-19 merge -sparse "$build"/*.profraw \
        -o "$build/profile" &&
        llvm-cov-19 export $objects -instr-profile="$build/profile" \
            >"$build/coverage.json"
}
expect 'the measurements can be merged' merge

python3 test/coverage/report.py "$build/coverage.json" >"$build/report"

# reaches KIND: the case of one percentage.
reaches() {
    reached=$(awk -v kind="$1" '$2 == kind { print $3 }' "$build/report")
    counts=$(awk -v kind="$1" '$2 == kind { print $4 " of " $5 }' \
        "$build/report")
    expect "$1: ${reached:-none} % ($counts), at least $least %" \
        awk "BEGIN { exit !(${reached:-0} >= $least) }"
}

reaches lines
reaches regions
reaches branches
reaches mcdc

# ----------------------------------------------------------------- ratio ---

lines_of_code() {
    python3 test/coverage/lines_of_code.py "$@"
}

header_lines=$(lines_of_code timingwheel.h)
# shellcheck disable=SC2046
test_lines=$(lines_of_code $(find test -name '*.[ch]'))
ratio=$(awk "BEGIN { printf \"%.1f\", $test_lines / $header_lines }")
expect "$ratio lines of test code to one of the header\
 ($test_lines to $header_lines), at least $least_ratio" \
    awk "BEGIN { exit !($ratio >= $least_ratio) }"

grep '^#' "$build/report"
tap_end
