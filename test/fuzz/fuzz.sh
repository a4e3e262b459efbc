#!/bin/sh
# fuzz.sh - libFuzzer on test/fuzz/fuzz.c: any bytes as a round of operations,
# judged by the oracle. Prints TAP; run from the top of the repository.
#
#     test/fuzz/fuzz.sh            a minute
#     test/fuzz/fuzz.sh FILE...    repeats these inputs, with any compiler
#     SECONDS_TO_RUN=3600 SEED=7 test/fuzz/fuzz.sh
#
# Two workers share what they find: one under AddressSanitizer and
# UndefinedBehaviorSanitizer, one without, which is faster. Both begin with
# test/fuzz/corpus and with earlier findings in .build/fuzz/found. An input that
# fails stays in .build/fuzz, and is printed with the command that repeats it.
# The corpus is small: 4 KB, and the next command keeps each file, because each
# reaches something that no other does. Every build of variant.sh replays the
# corpus. To make the corpus anew:
#
#     .build/fuzz/plain -set_cover_merge=1 NEW_FOLDER .build/fuzz/found
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
build=.build/fuzz
corpus=test/fuzz/corpus
seconds=${SECONDS_TO_RUN:-60}
least=${LEAST:-$((seconds * 5000))} # executions
seed=$(test/lib/seed.sh) || exit 2
mkdir -p "$build/found"

if [ $# != 0 ]; then
    "${CC:-gcc}" -std=c99 -g -O1 -fsanitize=address,undefined \
        -fno-sanitize-recover=all -DFUZZ_REPLAY -o "$build/replay" \
        test/fuzz/fuzz.c && exec "$build/replay" "$@"
    exit 1
fi

# Comparisons are not traced: an input has no numbers that must be guessed.
untraced=-fno-sanitize-coverage=trace-cmp
sanitized="-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all"
plain=-fsanitize=fuzzer
# shellcheck disable=SC2086
if ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
    clang $sanitized -x c -o "$build/empty" - >/dev/null 2>&1; then
    skip 'fuzzing' 'clang or its libFuzzer is missing'
    tap_end
    exit
fi
# shellcheck disable=SC2086
expect 'the sanitized target compiles' clang -std=c99 -g -O2 $sanitized \
    $untraced -o "$build/sanitized" test/fuzz/fuzz.c
# shellcheck disable=SC2086
expect 'the plain target compiles' clang -std=c99 -g -O2 $plain \
    $untraced -o "$build/plain" test/fuzz/fuzz.c

echo "# seed $seed, $seconds s"
for worker in sanitized plain; do
    {
        "$build/$worker" -seed="$seed" -max_total_time="$seconds" -max_len=512 \
            -timeout=300 -print_final_stats=1 -artifact_prefix="$build/" \
            "$build/found" "$corpus" >"$build/$worker.log" 2>&1
        echo $? >"$build/$worker.status"
    } &
done
wait
sum=0
for worker in sanitized plain; do
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' \
        "$build/$worker.log")
    sum=$((sum + ${executed:-0}))
    if [ "$(cat "$build/$worker.status")" = 0 ]; then
        pass "nothing found, $worker, ${executed:-no} executions"
        continue
    fi
    grep -B 9 -A 9 '^# step\|ERROR:' "$build/$worker.log" ||
        tail -n 20 "$build/$worker.log"
    file=$(sed -n 's/.*Test unit written to //p' "$build/$worker.log")
    [ ! -e "$file" ] || echo "# to repeat: echo" \
        "$(base64 <"$file" | tr -d '\n') |" \
        "base64 -d >found && test/fuzz/fuzz.sh found"
    fail "nothing found, $worker"
done
expect "$sum executions, at least $least" test "$sum" -ge "$least"
tap_end
