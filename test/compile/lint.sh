#!/bin/sh
# lint.sh - the text of the repository: warnings of gcc and clang in each
# program, the format, line lengths, the licence; shellcheck for the scripts and
# static analysis for the header. Prints TAP. Run from the top of the
# repository. What a tool is missing for is skipped with a warning; with STRICT
# set it fails.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/lint
. test/lib/tap.sh

header=timingwheel.h
all=test/compile/threads.c # the whole header, with the mailbox
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

rm -rf "$build"
mkdir -p "$build"

# The program text of the repository, one file a line.
programs() {
    find timingwheel.h test bench -name '*.[ch]' -o -name '*.cpp'
}

scripts() {
    find test bench -name '*.sh'
    echo .ci/run
}

sources() {
    programs
    scripts
}

# -------------------------------------------------------------- warnings ---

# Not here: test/compile, which gates.sh compiles in every way; the recipes,
# which recipes.sh compiles with their libraries; test/hosts, which needs the
# sources of the hosts; test/docs but for dump.c, which needs lines of README.md
# or of the manual, and is compiled by examples.sh.
gate_programs() {
    glib=$(pkg-config --cflags glib-2.0 2>/dev/null) || glib=
    for file in test/recipes/epoll.c \
        $(find test bench -path test/recipes -prune -o -path test/hosts -prune \
            -o -path test/compile -prune -o -path test/docs -prune \
            -o -name '*.c' -print) test/docs/dump.c; do
        for compiler in gcc clang; do
            have $compiler || continue
            # shellcheck disable=SC2086
            expect "$compiler, $file, no warning" $compiler \
                -std="$(test/lib/standard.sh "$file")" \
                $warnings -O2 -fsyntax-only $glib "$file"
        done
    done
}

# ----------------------------------------------------------------- style ---

# shellcheck disable=SC2016
long_lines() {
    sources | xargs awk 'length($0) > 80 { print FILENAME ":" FNR }'
}

odd_bytes() {
    sources | LC_ALL=C xargs grep -n '[^ -~]' /dev/null
    sources | LC_ALL=C xargs grep -n ' $' /dev/null
    true
}

# clang-format 14 is Debian 12's. Other versions format some lines otherwise.
not_formatted() {
    programs | xargs clang-format --dry-run -Werror >"$build/format" 2>&1 &&
        return
    sed -n 's/^\([^ ].*\):[0-9]*:[0-9]*: error: .*/\1/p' "$build/format" |
        uniq -c
    return 1
}

bad_scripts() {
    scripts | xargs shellcheck -x
}

gate_format() {
    if ! have clang-format ||
        ! clang-format --version | grep -q 'version 14\.'; then
        skip "clang-format" "clang-format 14 is missing"
    else
        expect_nothing "clang-format would change nothing" not_formatted
    fi
    if ! have shellcheck; then
        skip "shellcheck" "shellcheck is missing"
    else
        expect_nothing "shellcheck finds nothing" bad_scripts
    fi
}

long_functions() {
    ctags -x --language-force=C --c-kinds=f --_xformat='%N %n %e' "$header" \
        >"$build/functions" || return
    grep -q '^tw_start ' "$build/functions" || echo "tw_start is missing"
    awk '$3 - $2 >= 60 { print $1 ": " $3 - $2 + 1 " lines" }' \
        "$build/functions"
}

without_licence() {
    for file in $(sources) Makefile; do
        grep -q 'SPDX-License-Identifier: MIT' "$file" || echo "$file"
    done
}

gate_style() {
    expect_nothing "no line over 80 columns" long_lines
    expect_nothing "no tab, trailing space or byte outside ASCII" \
        odd_bytes
    expect_nothing "every file names its licence" without_licence
    if ! have ctags || ! ctags --version 2>/dev/null | grep -q Universal; then
        skip "function lengths" "universal-ctags is missing"
        return
    fi
    expect_nothing "no function over 60 lines" long_functions
}

# ------------------------------------------------------- static analysis ---

# Checks that are switched off, and why:
# - bugprone-easily-swappable-parameters: two uint64_t in a row are the nature
#   of a timer interface; their names and order are the contract's.
# - bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp: the same check
#   under three names; -Wreserved-identifier above does it for this header
#   without blaming the system's.
# - bugprone-casting-through-void: slabs, wheels, buckets and bitmaps are carved
#   out of one piece of memory; that the cast goes through void says so.
tidy_checks='-*,bugprone-*,cert-*,clang-analyzer-*'
tidy_checks=$tidy_checks,-bugprone-easily-swappable-parameters
tidy_checks=$tidy_checks,-bugprone-reserved-identifier
tidy_checks=$tidy_checks,-cert-dcl37-c,-cert-dcl51-cpp
tidy_checks=$tidy_checks,-bugprone-casting-through-void

tidy() {
    clang-tidy-19 -quiet -warnings-as-errors='*' -header-filter='.*' \
        -checks="$tidy_checks" $all -- -std=c11
}

# What cppcheck is told not to report, and why:
# - arrayIndexOutOfBoundsCond: it reads `while (index > 0 && ... [(index - 1) /
#   2])` as if the index were used where it is 0.
# - useStandardLibrary: it wants memset, which needs <string.h>; the header
#   promises to do without.
run_cppcheck() {
    cppcheck -q --error-exitcode=1 --std=c11 --language=c \
        --enable=warning,style,performance,portability \
        --suppress=arrayIndexOutOfBoundsCond --suppress=useStandardLibrary \
        $all
}

# -Wno-analyzer-malloc-leak: a wheel stands in the memory that it points to, at
# an address that was rounded up through an integer, and gcc 12 loses sight of
# it there. Leaks are what LeakSanitizer and valgrind look for in every test.
run_fanalyzer() {
    gcc -std=c11 -O1 -fanalyzer -Wno-analyzer-malloc-leak -Werror -c \
        -o "$build/object.o" $all
}

gate_analysis() {
    if have gcc; then
        expect "gcc -fanalyzer" run_fanalyzer
    else
        skip "gcc -fanalyzer" "gcc is missing"
    fi
    if have clang; then
        expect_nothing "clang --analyze" clang --analyze -std=c11 \
            --analyzer-output text $all
    else
        skip "clang --analyze" "clang is missing"
    fi
    if have clang-tidy-19; then
        expect "clang-tidy" tidy
    else
        skip "clang-tidy" "clang-tidy-19 is missing"
    fi
    if have cppcheck; then
        expect "cppcheck" run_cppcheck
    else
        skip "cppcheck" "cppcheck is missing"
    fi
}

gate_programs
gate_style
gate_format
gate_analysis
tap_end
