#!/bin/sh
# check.sh - what `make check` runs, beyond `make test`: every test under
# sanitizers and valgrind, and what takes more tools or more time. The table in
# test/README.md says what each part shows. Prints TAP and ends with the line
# `N passed, N failed`. Run from the top of the repository.
#
#     test/check.sh
#     ONLY='soak|asan' test/check.sh
#
# test/run.sh runs the parts: as many at a time as there are processors, except
# for those that use all of them alone. What a part prints is kept in
# .build/check/said. A part whose tool is missing is skipped with a warning, and
# listed again at the end; with STRICT set the part fails. Random numbers depend
# on the commit, or on SEED (test/lib/seed.sh).
#
# SPDX-License-Identifier: MIT
set -u

build=.build/check
tests=$(test/lib/programs.sh) || exit 2
# shellcheck disable=SC2086
separate=$(grep -L '^#include "../lib/letters.h"' $tests)
seed=$(test/lib/seed.sh) || exit 2
operations=${SOAK:-200000000} # random ones; a tenth of that sanitized
limit=1800 # seconds, for each part

rm -rf "$build"
mkdir -p "$build/bin" "$build/parts" "$build/said"
parts=

# ------------------------------------------------------------- the parts ---

# part NAME LINE...: a script.
part() {
    name=$1
    shift
    echo "$name" | grep -qE "${ONLY:-.}" || return 0
    {
        echo '#!/bin/sh'
        printf '%s\n' "$@"
    } >"$build/parts/$name"
    chmod +x "$build/parts/$name"
    parts="$parts $build/parts/$name"
}

# Parts before a barrier end before the parts after it begin.
barrier() {
    [ -z "$parts" ] || parts="$parts +"
}

# works RUNNER COMPILER FLAG...: can these compile, link and run a program?
works() {
    runner=$1
    shift
    command -v "$1" >/dev/null 2>&1 &&
        "$@" -o "$build/works" test/compile/empty.c >/dev/null 2>&1 &&
        $runner "$build/works"
}

# skip_part NAME WHAT REASON
skip_part() {
    part "$1" ". test/lib/tap.sh" "skip '$2' '$3'" tap_end
}

# Slow builds run fewer cases and operations. `make test` runs all cases.
options_for() {
    case $1-$2 in
    random-valgrind) echo "--seed $seed --operations 40000" ;;
    random-*) echo "--seed $seed --operations 500000" ;;
    memory-valgrind | memory-msan* | exhaustive-* | states-*) echo --quick ;;
    work-valgrind) echo --seed "$seed" --operations 1000000 ;;
    work-*) echo --seed "$seed" --operations 5000000 ;;
    fuzz-*) echo test/fuzz/corpus/* ;;
    esac
}

# compiled NAME RUNNER SOURCE OPTIONS COMPILER FLAG...: a part that compiles a
# program, and runs it under RUNNER, which is a command or nothing.
compiled() {
    name=$1 runner=$2 source=$3 options=$4
    shift 4
    part "$name" \
        "$* -std=$(test/lib/standard.sh "$source") -g \\" \
        "    -o $build/bin/$name $source &&" \
        "    exec $runner $build/bin/$name $options"
}

# variant NAME RUNNER COMPILER FLAG...: every test, and the inputs of the fuzz
# corpus, compiled so and run under RUNNER. The programs with letters.h are one
# program, `promises`, which takes a fifth of the time to compile.
variant() {
    variant=$1 runner=$2
    shift 2
    if ! works "$runner" "$@"; then
        skip_part "$variant" "every test under $variant" \
            "$* does not work here"
        return
    fi
    for source in $separate; do
        test=$(basename "$source" .c)
        compiled "$test.$variant" "$runner" "$source" \
            "$(options_for "$test" "$variant")" "$@"
    done
    compiled "promises.$variant" "$runner" test/unit/portable.c '' \
        "$@" -DKEEP_BUILTINS
    compiled "fuzz-corpus.$variant" "$runner" test/fuzz/fuzz.c \
        "$(options_for fuzz "$variant")" "$@" -DFUZZ_REPLAY
}

# soak NAME OPERATIONS SEED COMPILER FLAG...
soak() {
    name=$1 soak_operations=$2 soak_seed=$3
    shift 3
    if works '' "$@"; then
        part "$name" \
            "exec test/search/soak.sh $soak_operations $soak_seed $*"
    else
        skip_part "$name" "$soak_operations random operations" \
            "$* does not work here"
    fi
}

# examples NAME COMPILER FLAG...: they compile themselves; and a short run of
# the demo.
# shellcheck disable=SC2016
examples() {
    variant=$1
    shift
    if ! works '' "$@"; then
        skip_part "examples.$variant" 'the examples and the demo' \
            "$* does not work here"
        return
    fi
    part "examples.$variant" \
        "CC='$*' CFLAGS='-g $warnings' exec test/docs/examples.sh"
    part "demo.$variant" \
        "build=$build/demo.$variant" 'mkdir -p "$build"' '. test/lib/tap.sh' \
        "$* -std=c99 -g -o \$build/demo test/recipes/epoll.c || exit" \
        "expect 'no timer is early or lost' \\" \
        '    "$build/demo" --connections 200 --seconds 2 --dump' \
        "$* -std=c11 -g -pthread -o \$build/threads test/recipes/threads.c ||" \
        '    exit' "expect 'worker threads and their time-outs end' \\" \
        '    timeout 60 "$build/threads"' tap_end
}

warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
sanitized='-O1 -fno-omit-frame-pointer -fno-sanitize-recover=all'
memory="$sanitized -fsanitize=address,undefined"
seldom='-DRECORDER_CHECK_EVERY=16' # tw_check, where everything is slow
msan="$sanitized -fsanitize=memory -fsanitize-memory-track-origins"

# ---------------------------------------------------------------- the list ---

# The longest first, so that no core is idle at the end. Those that use every
# processor run alone, first and last.
part fuzz 'exec test/fuzz/fuzz.sh'
barrier
part prove 'exec test/prove/prove.sh'
part coverage 'exec test/coverage/coverage.sh'
part targets 'exec test/targets/targets.sh'
part hosts 'exec test/hosts/hosts.sh --tests libuv libevent tor'
# shellcheck disable=SC2086
{
    soak soak-1.O2 $((operations / 2)) "$((seed * 16 + 1))" gcc -O2
    soak soak-2.O2 $((operations / 2)) "$((seed * 16 + 2))" gcc -O2
    soak soak.asan-gcc $((operations / 20)) "$((seed * 16 + 3))" gcc $memory
    soak soak.asan-clang $((operations / 20)) "$((seed * 16 + 4))" \
        clang $memory
    soak soak.small-chunks $((operations / 20)) "$((seed * 16 + 5))" \
        gcc -O2 -DTWI_CHUNK_BYTES=64
    compiled states-full '' test/search/states.c --full gcc -O2
    if command -v valgrind >/dev/null 2>&1; then
        variant valgrind \
            'valgrind -q --error-exitcode=99 --leak-check=full' \
            gcc -O2 $seldom
    else
        skip_part valgrind 'every test under valgrind' 'valgrind is missing'
    fi
    for kind in gates foreign lint; do
        part $kind "exec test/compile/$kind.sh"
    done
    variant asan-gcc '' gcc $memory
    variant asan-clang '' clang $memory
    variant msan-clang '' clang $msan $seldom
    variant m32-gcc "$(test/lib/runner32.sh)" \
        gcc -O2 -m32 -I/usr/include/x86_64-linux-gnu
    examples asan-gcc gcc $memory
}
for kind in tsan asan litmus mistakes; do
    part "threads.$kind" "exec test/threads/threads.sh $kind $seed"
done
part threads.model 'exec test/threads/model.sh'
part cost 'exec test/cost/cost.sh'
for cc in gcc clang; do
    part "work.$cc" \
        "CC=$cc exec test/search/work.sh --seed $seed --operations 250000000"
done
part install 'exec test/docs/install.sh'
part call 'exec test/unit/call.sh'
part gdb 'exec test/gdb/gdb.sh'
part recipes 'exec test/recipes/recipes.sh'
part mutate-bugs 'exec test/mutate/mutate.sh --bugs'
barrier
part mutate \
    "exec test/mutate/mutate.sh --sample ${SAMPLE:-24} --seed $seed"

# ----------------------------------------------------------- to run them ---

[ -n "$parts" ] || {
    echo "no part has a name that matches ONLY='$ONLY'" >&2
    exit 2
}
began=$(date +%s)
echo "# seed $seed; to repeat: SEED=$seed make check"
# shellcheck disable=SC2086
{
    LIMIT=$limit KEEP=$build/said test/run.sh $parts
    echo $? >"$build/status"
} | tee "$build/log" | sed '$d'
cat "$build"/said/*.end | awk -v wall=$(($(date +%s) - began)) '
    { parts += NF == 3; used += $3 }
    END { printf "# %d parts, %d s, of a processor %d s\n", parts, wall, used }'
sed -n 's/.*\(\*\*\* SKIPPED.*\)/\1/p' "$build/log"
tail -n 1 "$build/log"
exit "$(cat "$build/status")"
