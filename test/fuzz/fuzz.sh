#!/bin/sh
# fuzz.sh - libFuzzer on test/fuzz/fuzz.c: any bytes as a round of operations,
# judged by the oracle, under AddressSanitizer and UndefinedBehaviorSanitizer.
# Prints TAP; run from the top of the repository.
#
#     test/fuzz/fuzz.sh            a minute
#     SECONDS_TO_RUN=3600 SEED=7 test/fuzz/fuzz.sh
#     .build/fuzz/fuzz FILE        repeats an input
#
# An input that fails stays in .build/fuzz. Inputs that reach something new stay
# in .build/fuzz/found, with which the next run begins.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
build=.build/fuzz
seconds=${SECONDS_TO_RUN:-60}
least=$((seconds * 1000)) # executions
seed=$(test/lib/seed.sh) || exit 2
mkdir -p "$build/found"

# Comparisons are not traced: an input has no numbers that must be guessed.
compile() {
    clang -std=c99 -g -O2 -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=all -fno-sanitize-coverage=trace-cmp \
        -o "$build/fuzz" test/fuzz/fuzz.c
}
# Shows what the oracle or a sanitizer says, and the command that repeats it.
finds_nothing() {
    "$build/fuzz" -seed="$seed" -max_total_time="$seconds" -max_len=512 \
        -timeout=300 -print_final_stats=1 -artifact_prefix="$build/" \
        "$build/found" >"$build/log" 2>&1 && return
    grep -A 6 '^# step\|ERROR:' "$build/log" || tail -n 20 "$build/log"
    sed -n "s|.*Test unit written to |to repeat: $build/fuzz |p" "$build/log"
    return 1
}

if ! have clang; then
    skip 'fuzzing' 'clang is missing'
    tap_end
    exit
fi
expect 'the target compiles: clang has libFuzzer' compile
expect "nothing found in $seconds s, seed $seed" finds_nothing
count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/log")
expect "${count:-0} executions, at least $least" test "${count:-0}" -ge "$least"
tap_end
