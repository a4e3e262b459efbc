#!/bin/sh
# interface.sh - a quick part of gates.sh for `make test`: the header as C++11,
# with every warning an error, and a program with all public names (interface.c)
# as C99, C11 and C++11; and where a new function must go. CC chooses the
# compiler. Prints TAP. Run from the top of the repository. A case without its
# compiler is skipped with a warning.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/interface
warnings='-Wall -Wextra -Wpedantic -Wconversion -Werror'
. test/lib/tap.sh
. test/compile/subjects.sh
mkdir -p "$build"
write_subjects

version=$(awk '$2 ~ /^TW_VERSION_/ { printf "%s%s", dot, $3; dot = "." }' \
    timingwheel.h)

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

# Each function is in every place where a new one must go, and a change of the
# list has a version and a line in CHANGES: functions.txt has the version since
# which a function exists. Prints what is missing, and the file to edit.
functions_without_a_place() {
    sed -n 's/^TW_DEF .*[ *]\(tw_[a-z_]*\)(.*/\1/p' timingwheel.h | sort -u \
        >"$build/declared"
    sort -u test/compile/functions.txt | sed 's/ .*//' >"$build/known"
    comm -13 "$build/declared" "$build/known" |
        sed 's|$|: version 2 keeps every function|'
    comm -23 "$build/declared" "$build/known" | sed 's|$| new|' >"$build/new"
    sed -n '/^\/\* -* functions -*$/,/\*\//p' timingwheel.h |
        tr -c 'a-z_' '\n' | grep '^tw_' | sort | diff "$build/declared" - |
        sed -n 's/^[<>] //p' |
        sed 's|$|: have it once in the list of functions in timingwheel.h|'
    interface=$(words <test/compile/interface.c)
    changes=$(sed -n '/^\/\* CHANGES/,/^   2.1/p' timingwheel.h | words)
    random=$(cat test/search/operations.h test/search/rounds.h \
        test/threads/stress.c | words)
    called=$(sed -n '/^static int calls(/,$p' test/compile/interface.c | words)
    # Statements without NULL, and statements with NULL. The body of refuses()
    # is called with NULL.
    (cd test/contract && for file in *.c *.h *.cpp; do
        sed '/ refuses(/,/^}/d' "$file" | tr -d '\n' | tr ';' '\n'
    done) >"$build/statements"
    cases=$(grep -v NULL "$build/statements" | words)
    null=$({
        grep NULL "$build/statements"
        sed -n '/ refuses(/,/^}/p' test/contract/functions.c
    } | words)
    while read -r name since; do
        if [ "$since" = new ]; then
            echo "$name: add it to test/compile/functions.txt, with the version"
            since=$version
        fi
        missing "$cases" 'write a case in a C file of test/contract, or give
script.h a word for it'
        missing "$interface" 'declare it in test/compile/interface.c'
        missing "$called" 'call it in calls() of test/compile/interface.c'
        missing "$null tw_after tw_strerror " \
            'add a row with NULL to test/contract/functions.c or misuse.c'
        missing "$random tw_dump tw_next_period tw_strerror " \
            'add it to operations.h: a query in check_quickly, another function
with the last row of rounds.h'
        [ "$since" = 2.0 ] && continue
        missing "$changes" 'add a line to CHANGES in timingwheel.h'
        [ "$(printf '%s\n' "$since" "$version" | sort -V | tail -n 1)" = \
            "$version" ] || echo "$name: set TW_VERSION_MINOR in timingwheel.h"
    done <<END
$(cat test/compile/functions.txt "$build/new")
END
}

# The version stands in six places. Prints those with another version.
other_versions() {
    number=$(echo "$version" | awk -F. '{ print $1 * 10000 + $2 * 100 + $3 }')
    for place in "^/. timingwheel.h - v$version - " \
        "defined(TIMINGWHEEL_H) && TIMINGWHEEL_H + 0 != $number\$" \
        "^#define TIMINGWHEEL_H $number\$" \
        "^#define TWI_VERSION timingwheel_h_$(echo "$version" | tr . _)\$" \
        "^   $version  20[0-9-]*  "; do
        grep -q "$place" timingwheel.h || echo "timingwheel.h lacks: $place"
    done
}

# words: prints each name of a function in the input, between spaces.
words() {
    echo " $(tr -cs 'a-z0-9_' '\n' | grep '^tw_' | sort -u | tr '\n' ' ')"
}

# missing NAMES TEXT: prints the text if the function is not among the names.
missing() {
    case $1 in *" $name "*) ;; *) echo "$name: $2" ;; esac
}

expect_nothing 'each function is in every place where one must be' \
    functions_without_a_place
expect_nothing 'the version is the same in six places' other_versions
have g++ || skip 'the header and every name as C++11' 'g++ is missing'
if have g++; then
    expect 'g++, the header without a warning' \
        header declarations implementation
    expect 'g++, the header with the mailbox without a warning' \
        header threads_declarations threads
    expect 'a program with every name as C++11' program g++ -std=c++11 -x c++
    expect 'a program with every name as C++11, with the mailbox' \
        program g++ -std=c++11 -DTIMINGWHEEL_THREADS -x c++
fi
expect 'a program with every name as C99' program "${CC:-cc}" -std=c99
expect 'a program with every name as C11, with the mailbox' \
    program "${CC:-cc}" -std=c11 -DTIMINGWHEEL_THREADS
tap_end
