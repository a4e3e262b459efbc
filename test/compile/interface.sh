#!/bin/sh
# interface.sh - a quick part of gates.sh for `make test`: the header as C++11,
# with every warning an error, and a program of version 2.0.0 (interface.c) as
# C99, C11 and C++11. CC chooses the compiler. Prints TAP. Run from the top of
# the repository. A case without its compiler is skipped with a warning.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/interface
warnings='-Wall -Wextra -Wpedantic -Wconversion -Werror'
. test/lib/tap.sh
. test/compile/subjects.sh
mkdir -p "$build"
write_subjects

# header SUBJECT...: compiles the ways to include the header, as C++11.
header() {
    for subject; do
        g++ -std=c++11 -Wpedantic -Werror -x c++ -I. -c -o "$build/object.o" \
            "$build/$subject.c" || return
    done
}

# program COMPILER FLAG...: compiles and runs interface.c.
# shellcheck disable=SC2086
program() {
    compiler=$1
    shift
    $compiler "$@" $warnings -I. -o "$build/program" \
        test/compile/interface.c && "$build/program"
}

have g++ || skip 'the header and version 2.0.0 as C++11' 'g++ is missing'
if have g++; then
    expect 'g++, the header without a warning' \
        header declarations implementation
    expect 'g++, the header with the mailbox without a warning' \
        header threads_declarations threads
    expect 'a program of version 2.0.0 as C++11' program g++ -std=c++11 -x c++
    expect 'a program of version 2.0.0 as C++11, with the mailbox' \
        program g++ -std=c++11 -DTIMINGWHEEL_THREADS -x c++
fi
expect 'a program of version 2.0.0 as C99' program "${CC:-cc}" -std=c99
expect 'a program of version 2.0.0 as C11, with the mailbox' \
    program "${CC:-cc}" -std=c11 -DTIMINGWHEEL_THREADS
tap_end
