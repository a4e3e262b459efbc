#!/bin/sh
# check.sh - what `make check` runs: every test, the examples and the demo again
# under sanitizers, every test under valgrind, then the gates. Prints TAP and
# ends with the line `N passed, N failed`. Run from the top of the repository.
#
#     test/check.sh TEST...        names without test/ and .c
#
# What a tool is missing for is skipped, loudly, and listed again at the end;
# with STRICT set it fails.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/check
tests=$*
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

rm -rf "$build"
mkdir -p "$build/bin"
: >"$build/compile"
programs=

# Fewer operations where everything is slow; the full number is `make test`'s.
options_for() {
    case $1-$2 in
    model-valgrind) echo --operations 40000 ;;
    model-*) echo --operations 1000000 ;;
    exhaustive-* | states-*) echo --quick ;;
    esac
}

# script NAME LINE...: an executable that test/run.sh will run as NAME.
script() {
    script=$build/$1
    shift
    {
        echo '#!/bin/sh'
        printf '%s\n' "$@"
    } >"$script"
    chmod +x "$script"
    programs="$programs $script"
}

# works COMPILER FLAG...: can it compile, link and run a program with these?
works() {
    command -v "$1" >/dev/null 2>&1 &&
        echo 'int main(void) { return 0; }' >"$build/works.c" &&
        "$@" -o "$build/works" "$build/works.c" >/dev/null 2>&1 &&
        "$build/works"
}

skip_variant() {
    script "$1" ". test/tap.sh" "skip 'every test under $1' '$2'" tap_end
}

# variant NAME RUNNER COMPILER FLAG...: every test, compiled so and run under
# RUNNER, a command or nothing.
variant() {
    variant=$1 runner=$2
    shift 2
    if ! works "$@"; then
        skip_variant "$variant" "$* does not work here"
        return
    fi
    for test in $tests; do
        binary=$build/bin/$test.$variant
        echo "$* -std=c99 -g -o $binary test/$test.c" >>"$build/compile"
        script "$test.$variant" \
            "exec $runner $binary $(options_for "$test" "$variant")"
    done
}

# rest NAME COMPILER FLAG...: the examples, which build themselves, and a short
# run of the demo.
rest() {
    variant=$1
    shift
    works "$@" || return
    script "examples.$variant" \
        "CC='$*' CFLAGS='-g $warnings' exec test/examples.sh"
    binary=$build/bin/demo.$variant
    echo "$* -std=c99 -g -o $binary test/loops/epoll.c" >>"$build/compile"
    script "demo.$variant" "build=$build" '. test/tap.sh' \
        "expect 'no timer is early or lost' \\" \
        "    $binary --connections 200 --seconds 2" tap_end
}

warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
memory='-O1 -fno-omit-frame-pointer -fno-sanitize-recover=all'
# shellcheck disable=SC2086
{
    rest asan-gcc gcc $memory -fsanitize=address,undefined
    variant asan-gcc '' gcc $memory -fsanitize=address,undefined
    variant asan-clang '' clang $memory -fsanitize=address,undefined
    variant msan-clang '' clang $memory -fsanitize=memory \
        -fsanitize-memory-track-origins
    variant m32-gcc '' gcc -O2 -m32 -I/usr/include/x86_64-linux-gnu
}
if command -v valgrind >/dev/null 2>&1; then
    variant valgrind \
        'valgrind -q --error-exitcode=99 --leak-check=full' gcc -O1
else
    skip_variant valgrind 'valgrind is missing'
fi

# A program that does not compile is missing, and fails when it is run.
xargs -P "$cores" -I '{}' sh -c '{}' <"$build/compile"

# shellcheck disable=SC2086
{
    test/run.sh $programs test/gates.sh test/cost.sh
    echo $? >"$build/status"
} | tee "$build/log" | sed '$d'
sed -n 's/.*\(\*\*\* SKIPPED.*\)/\1/p' "$build/log"
tail -n 1 "$build/log"
exit "$(cat "$build/status")"
