#!/bin/sh
# check.sh - what `make check` runs, beyond `make test`: every test under
# sanitizers and valgrind, and what takes more tools or more time. The table in
# test/README.md says what each part shows. Prints TAP and ends with the line
# `N passed, N failed`. Run from the top of the repository.
#
#     test/check.sh
#     ONLY='soak|asan' test/check.sh
#
# As many parts run at a time as there are processors, except for those that
# use all of them alone. What they print is kept in .build/check/said and shown
# in the order of the list, whichever ends first. What a tool is missing for is
# skipped, loudly, and listed again at the end; with STRICT set it fails. What
# is random depends on the commit, or on SEED (test/lib/seed.sh).
#
# SPDX-License-Identifier: MIT
set -u

build=.build/check
tests=$(test/lib/programs.sh) || exit 2
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
seed=$(test/lib/seed.sh) || exit 2
operations=${SOAK:-500000000} # random ones, and a tenth of it sanitized
limit=1800 # seconds, for each part

rm -rf "$build"
mkdir -p "$build/bin" "$build/parts" "$build/play" "$build/said"
: >"$build/alone"
: >"$build/together"

# ------------------------------------------------------------- the parts ---

# part LIST NAME LINE...: a script, to be run alone or together with others.
part() {
    list=$1 name=$2
    shift 2
    echo "$name" | grep -qE "${ONLY:-.}" || return 0
    {
        echo '#!/bin/sh'
        printf '%s\n' "$@"
    } >"$build/parts/$name"
    chmod +x "$build/parts/$name"
    echo "$name" >>"$build/$list"
}

# works COMPILER FLAG...: can it compile, link and run a program with these?
works() {
    command -v "$1" >/dev/null 2>&1 &&
        echo 'int main(void) { return 0; }' >"$build/works.c" &&
        "$@" -o "$build/works" "$build/works.c" >/dev/null 2>&1 &&
        "$build/works"
}

# skip_part NAME WHAT REASON
skip_part() {
    part together "$1" ". test/lib/tap.sh" "skip '$2' '$3'" tap_end
}

# Fewer operations where everything is slow; the full number is `make test`'s.
options_for() {
    case $1-$2 in
    random-valgrind) echo "--seed $seed --operations 40000" ;;
    random-*) echo "--seed $seed --operations 500000" ;;
    exhaustive-* | states-*) echo --quick ;;
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
    part together "$name" \
        "$* -std=$(test/lib/standard.sh "$source") -g \\" \
        "    -o $build/bin/$name $source &&" \
        "    exec $runner $build/bin/$name $options"
}

# variant NAME RUNNER COMPILER FLAG...: every test, and the inputs of the fuzz
# corpus, compiled so and run under RUNNER.
variant() {
    variant=$1 runner=$2
    shift 2
    if ! works "$@"; then
        skip_part "$variant" "every test under $variant" \
            "$* does not work here"
        return
    fi
    for source in $tests; do
        test=$(basename "$source" .c)
        compiled "$test.$variant" "$runner" "$source" \
            "$(options_for "$test" "$variant")" "$@"
    done
    compiled "fuzz-corpus.$variant" "$runner" test/fuzz/fuzz.c \
        "$(options_for fuzz "$variant")" "$@" -DFUZZ_REPLAY
}

# soak NAME OPERATIONS SEED COMPILER FLAG...
soak() {
    name=$1 soak_operations=$2 soak_seed=$3
    shift 3
    if works "$@"; then
        part together "$name" \
            "exec test/search/soak.sh $soak_operations $soak_seed $*"
    else
        skip_part "$name" "$soak_operations random operations" \
            "$* does not work here"
    fi
}

# examples NAME COMPILER FLAG...: they compile themselves; and a short run of
# the demo.
examples() {
    variant=$1
    shift
    works "$@" || return
    part together "examples.$variant" \
        "CC='$*' CFLAGS='-g $warnings' exec test/docs/examples.sh"
    part together "demo.$variant" \
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

# The longest first, so that no core is idle at the end.
part alone fuzz 'exec test/fuzz/fuzz.sh'
part together prove 'exec test/prove/prove.sh'
part together coverage 'exec test/coverage/coverage.sh'
part together targets 'exec test/targets/targets.sh'
part together hosts 'exec test/hosts/hosts.sh --tests'
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
    part together gates 'exec test/compile/gates.sh'
    variant asan-gcc '' gcc $memory
    variant asan-clang '' clang $memory
    variant msan-clang '' clang $msan $seldom
    variant m32-gcc '' gcc -O2 -m32 -I/usr/include/x86_64-linux-gnu
    examples asan-gcc gcc $memory
}
for kind in tsan asan litmus mistakes; do
    part together "threads.$kind" "exec test/threads/threads.sh $kind $seed"
done
part together threads.model 'exec test/threads/model.sh'
part together cost 'exec test/cost/cost.sh'
for cc in gcc clang; do
    part together "work.$cc" \
        "CC=$cc exec test/search/work.sh --seed $seed --operations 500000000"
done
part together install 'exec test/docs/install.sh'
part together call 'exec test/unit/call.sh'
part together gdb 'exec test/gdb/gdb.sh'
part together recipes 'exec test/recipes/recipes.sh'
part together mutate-bugs 'exec test/mutate/mutate.sh --bugs'
part alone mutate \
    "exec test/mutate/mutate.sh --sample ${SAMPLE:-12} --seed $seed"

# ----------------------------------------------------------- to run them ---

# job NAME LIMIT: one part, what it says, and how it ended: its status, how many
# seconds it took, and how many of a processor.
cat >"$build/job" <<'END'
#!/bin/sh
said=.build/check/said/$1
began=$(date +%s)
timeout -k 10 "$2" .build/check/parts/"$1" >"$said" 2>&1 </dev/null &
echo $! >"$said.pid"
wait $!
status=$?
times >"$said.times"
used=$(awk -F '[ms ]+' 'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }' \
    "$said.times")
echo "$status $(($(date +%s) - began)) $used" >"$said.new"
mv "$said.new" "$said.end"
END
chmod +x "$build/job"

# The script that stands for a part in front of test/run.sh: waits for it and
# shows what it said.
play() {
    cat >"$build/play/$1" <<END
#!/bin/sh
until [ -e $build/said/$1.end ]; do
    [ ! -e $build/said/all.end ] || exit 1
    sleep 0.2
done
cat $build/said/$1
read -r status seconds used <$build/said/$1.end
[ "\$status" != 124 ] || echo '# stopped after $limit s'
echo "# $1: \$seconds s, of a processor \$used s"
exit "\$status"
END
    chmod +x "$build/play/$1"
}

# Those that use every processor come first and last.
run_parts() {
    grep -vx mutate "$build/alone" |
        xargs -r -I '{}' "$build/job" '{}' "$limit"
    xargs -r -P "$cores" -I '{}' "$build/job" '{}' "$limit" <"$build/together"
    grep -x mutate "$build/alone" |
        xargs -r -I '{}' "$build/job" '{}' "$limit"
    : >"$build/said/all.end"
}

stop_parts() {
    trap - INT TERM
    kill "$running"
    cat "$build"/said/*.pid | xargs kill 2>/dev/null
    exit 130
}

[ -s "$build/alone" ] || [ -s "$build/together" ] || {
    echo "no part has a name that matches ONLY='$ONLY'" >&2
    exit 2
}
programs=
for name in $(grep -vx mutate "$build/alone") $(cat "$build/together") \
    $(grep -x mutate "$build/alone"); do
    play "$name"
    programs="$programs $build/play/$name"
done
began=$(date +%s)
echo "# seed $seed; to repeat: SEED=$seed make check"
run_parts &
running=$!
trap stop_parts INT TERM

# shellcheck disable=SC2086
{
    test/run.sh $programs
    echo $? >"$build/status"
} | tee "$build/log" | sed '$d'
cat "$build"/said/*.end | awk -v wall=$(($(date +%s) - began)) '
    { used += $3 }
    END { printf "# %d parts, %d s, of a processor %d s\n", NR, wall, used }'
sed -n 's/.*\(\*\*\* SKIPPED.*\)/\1/p' "$build/log"
tail -n 1 "$build/log"
exit "$(cat "$build/status")"
