#!/bin/sh
# fuzz.sh - libFuzzer on test/fuzz/fuzz.c: any bytes as a program of calls, to
# the library and to the oracle. Prints TAP; run from the top of the repository.
#
#     test/fuzz/fuzz.sh            a minute, and 700,000 executions
#     test/fuzz/fuzz.sh FILE...    repeats these inputs, with any compiler, with
#                                  chunks of both sizes
#     SECONDS_TO_RUN=3600 WORKERS=sanitized SEED=7 test/fuzz/fuzz.sh
#
# Two workers run at a time and tell each other what they find: one under
# AddressSanitizer and UndefinedBehaviorSanitizer, one without, which is faster,
# and whose chunks have 4 slots, so that more buckets are large.
# They begin with test/fuzz/corpus and whatever was found before, which is in
# .build/fuzz/found. An input that fails is kept in .build/fuzz, and shown with
# the command that repeats it.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
build=.build/fuzz
corpus=test/fuzz/corpus
workers=${WORKERS:-sanitized plain}
seed=$(test/lib/seed.sh) || exit 2
seconds=${SECONDS_TO_RUN:-60}
least=${LEAST:-700000}
[ "$seconds" -ge 60 ] || least=${LEAST:-1}
untraced=-fno-sanitize-coverage=trace-cmp
mkdir -p "$build/found"

if [ $# != 0 ]; then
    for chunks in -UTWI_CHUNK_BYTES -DTWI_CHUNK_BYTES=64; do
        "${CC:-gcc}" -std=c99 -g -O1 -fsanitize=address,undefined "$chunks" \
            -fno-sanitize-recover=all -DFUZZ_REPLAY -o "$build/replay" \
            test/fuzz/fuzz.c && "$build/replay" "$@" || exit
    done
    exit
fi

# Comparisons are not traced: an input is a program without numbers that must
# be guessed, and the tracing takes half of the time and more.
flags_of() {
    case $1 in
    sanitized) echo -O2 -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=all "$untraced" ;;
    plain) echo -O2 -fsanitize=fuzzer "$untraced" -DTWI_CHUNK_BYTES=64 ;;
    esac
}

# work NAME SECONDS SEED: one worker, in the background.
work() {
    "$build/$1" -seed="$3" -max_total_time="$2" -max_len=512 -timeout=300 \
        -print_final_stats=1 -artifact_prefix="$build/" "$build/found" \
        "$corpus" >"$build/$1.log" 2>&1
    echo $? >"$build/$1.status"
}

# Adds what the workers have done to the sums.
count() {
    for worker in $workers; do
        [ "$(cat "$build/$worker.status")" = 0 ] || found="$found $worker"
        executed=$(sed -n 's/^stat::number_of_executed_units: *//p' \
            "$build/$worker.log")
        sum=$((sum + ${executed:-0}))
        echo "# $worker: ${executed:-no} executions;" \
            "$(grep -a ' cov: ' "$build/$worker.log" | tail -n 1 |
                sed 's/.*\(cov: .*\) lim: .*/\1/')"
    done
}

# round SECONDS: every worker for as long.
round() {
    rounds=$((rounds + 1))
    for worker in $workers; do
        work "$worker" "$1" $((seed + rounds)) &
    done
    wait
    count
}

# What failed, in a form that can be copied from a log.
show_findings() {
    find "$build" -maxdepth 1 -type f -newer "$build/began" \
        \( -name 'crash-*' -o -name 'timeout-*' -o -name 'oom-*' \
        -o -name 'leak-*' \) | while read -r file; do
        echo "# to repeat ${file##*/}:"
        echo "# echo $(base64 <"$file" | tr -d '\n') |" \
            "base64 -d >found && test/fuzz/fuzz.sh found"
    done
}

for worker in $workers; do
    # shellcheck disable=SC2046
    if ! clang $(flags_of "$worker") -o "$build/empty" \
        test/fuzz/empty_target.c >/dev/null 2>&1; then
        skip 'fuzzing' 'clang or its libFuzzer is missing'
        tap_end
        exit
    fi
    # shellcheck disable=SC2046
    expect "fuzz target, $worker, compiles" clang -std=c99 -g \
        $(flags_of "$worker") -o "$build/$worker" test/fuzz/fuzz.c
    expect "every input of the corpus, $worker" \
        "$build/$worker" "$corpus"/*
done

echo "# seed $seed, $seconds s"
: >"$build/began"
sum=0 rounds=0 found=
round "$seconds"
# A slow machine is given up to three times as long.
while [ -z "$found" ] && [ "$sum" -lt "$least" ] && [ "$rounds" -lt 7 ]; do
    round $(((seconds + 2) / 3))
done
for worker in $workers; do
    case $found in
    *$worker*)
        {
            grep -a '^fuzz\.c:' "$build/$worker.log"
            tail -n 20 "$build/$worker.log"
        } >"$build/said"
        fail "nothing found, $worker" "$build/said"
        ;;
    *) pass "nothing found, $worker" ;;
    esac
done
show_findings
expect "$sum executions, at least $least" test "$sum" -ge "$least"
tap_end
