# host.sh - Tor 0.4, whose timers on timeout.c timers.c replaces.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154

package=tor
version='tor-0.4.*'
programs='gcc make'
headers='openssl/ssl.h event2/event.h zlib.h'

# The groups of Tor's unit tests that use timers, and the files that they need.
groups='channelpadding circuitpadding scheduler mainloop'
helpers='test fakecircs log_test_helpers hs_test_helpers opts_test_helpers
    resolve_test_helpers rng_test_helpers test_helpers testing_common
    testing_rsakeys test_channel test_connection'

place() {
    cp "$top/timingwheel.h" "$adapter/timers.c" "$source/src/lib/evloop"
}

# Leaves only the wanted groups in the table of tests, so that 140 files of
# other tests need not be compiled.
keep_groups() {
    wanted=$(echo "$groups" | tr ' ' '|')
    sed -i -E "/^struct testgroup_t testgroups/,/END_OF_GROUPS/{
        /\"($wanted)\/\"/b
        /^  \{ \"/d
    }" "$source/src/test/test.c"
}

configure() {
    flags=-O2
    [ "$mode" != --tests ] || flags='-O0 -g0'
    [ "$mode" = --all ] || keep_groups || return
    mkdir -p "$build/work" && cd "$build/work" || return
    "$source/configure" --disable-asciidoc --disable-systemd \
        --disable-seccomp --disable-libscrypt --disable-lzma --disable-zstd \
        --disable-module-dirauth --disable-module-pow --disable-module-relay \
        --disable-gcc-hardening --disable-linker-hardening \
        --disable-gcc-warnings-advisory CFLAGS="$flags" &&
        make -s micro-revision.i
    configured=$?
    cd "$top" || return
    return "$configured"
}

# Prints the object files of the wanted groups.
test_objects() {
    for name in $helpers; do
        echo "src/test/test-$name.o"
    done
    for name in $groups; do
        echo "src/test/test-test_$name.o"
    done
    echo src/ext/test_test-tinytest.o
}

make_tests() {
    if [ "$mode" = --all ]; then
        make -s -j2 -C "$build/work" src/test/test src/test/test-timers
    else
        make -s -j2 -C "$build/work" src/test/test src/test/test-timers \
            "src_test_test_OBJECTS=$(test_objects | tr '\n' ' ')"
    fi
}

# Compiles a program of ours with Tor's library of tests.
compile() { # FOLDER NAME
    # shellcheck disable=SC2086
    gcc -std=gnu99 -O2 $warnings -DTOR_UNIT_TESTS -isystem "$build/work" \
        -isystem "$source/src" -isystem "$source/src/ext" -o "$build/$1/$2" \
        "$adapter/$2.c" "$build/work/src/test/libtor-testing.a" \
        -levent -lssl -lcrypto -lz -lm -pthread
}

make_programs() { # FOLDER
    make_tests && cp "$build/work/src/test/test" \
        "$build/work/src/test/test-timers" "$build/$1" &&
        compile "$1" exact && compile "$1" bench
}

list_tests() {
    "$build/before/test" --list-tests |
        awk 'known && NF == 1 { print $1 }; /^Known tests/ { known = 1 }'
    echo test-timers
}

run_test() { # FOLDER NAME
    if [ "$2" = test-timers ]; then
        timeout 120 "$build/$1/test-timers"
    else
        timeout 120 "$build/$1/test" "$2"
    fi
}

more_tests() {
    expect 'tor: 2,000 timers, each once and in its tick' "$build/after/exact"
}

measure() { # FOLDER
    "$build/$1/bench"
}

bench() {
    expect 'tor: the benchmark fires every timer' compare_medians 5 measure
}
