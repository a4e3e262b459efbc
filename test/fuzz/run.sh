#!/bin/sh
# run.sh - builds the fuzz target with clang's libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer, replays the corpus and goes on from it. Prints
# TAP; run from the top of the repository.
#
#     SECONDS_TO_RUN=180 test/fuzz/run.sh
#
# What it finds is kept in .build/fuzz; to repeat a finding:
#     .build/fuzz/fuzz .build/fuzz/crash-...
#
# SPDX-License-Identifier: MIT
set -u
seconds=${SECONDS_TO_RUN:-180}
build=.build/fuzz
mkdir -p "$build/found"
echo 1..1
if ! clang -std=c99 -g -O1 -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=all -o "$build/fuzz" test/fuzz/fuzz.c \
    >"$build/log" 2>&1; then
    echo '*** SKIPPED: fuzzing: clang or its libFuzzer is missing ***' >&2
    echo 'ok 1 - fuzz # SKIP clang or its libFuzzer is missing'
    exit
fi
if "$build/fuzz" -max_total_time="$seconds" -max_len=512 \
    -artifact_prefix="$build/" "$build/found" test/fuzz/corpus \
    >"$build/log" 2>&1; then
    result=ok
else
    result='not ok'
    tail -n 40 "$build/log" | sed 's/^/# /'
fi
tail -n 1 "$build/log" | sed 's/^/# /'
echo "$result 1 - fuzz: every call against the oracle for $seconds s"
[ "$result" = ok ]
