#!/bin/sh
# gates.sh - what timingwheel.h must be before it is run: it compiles everywhere
# without a warning, refuses what cannot work, leaks no name, and no number in
# it wraps by accident. The small files beside this script are the subjects.
# Prints TAP. Run from the top of the repository. What a tool is missing for is
# skipped with a warning; with STRICT set it fails.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/gates
folder=test/compile
. test/lib/tap.sh

header=timingwheel.h
c_standards='c99 c11 c17 c2x'
threads_c_standards='c11 c17 c2x'
cxx_standards='c++11 c++14 c++17 c++20'
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
prefix='^(tw_|TW_|timingwheel$|timingwheel_|TIMINGWHEEL_|twi_|TWI_)'

rm -rf "$build"
mkdir -p "$build"

# compile COMPILER STANDARD FILE [FLAG...]: prints the warnings. A C++ compiler
# takes the file as C++: inside a C++ program the C casts of a C header are no
# fault.
compile() {
    gate_compiler=$1 gate_standard=$2 gate_file=$3
    shift 3
    case $gate_standard in
    *++*) set -- -x c++ "$@" ;;
    esac
    # shellcheck disable=SC2086
    "$gate_compiler" -std="$gate_standard" -O2 $warnings "$@" -c \
        -o "$build/object.o" "$folder/$gate_file.c"
}

# compile_all COMPILER FILE STANDARD...
compile_all() {
    gate_compiler=$1 gate_file=$2
    shift 2
    for standard; do
        compile "$gate_compiler" "$standard" "$gate_file" || return
        compile "$gate_compiler" "$standard" "$gate_file" -O0 -DTW_DEBUG ||
            return
    done
}

gate_language() { # COMPILER STANDARD...
    gate_name=$1
    shift
    if ! have "$gate_name"; then
        skip "$gate_name $*" "$gate_name is missing"
        return
    fi
    for file in $gate_files; do
        for standard; do
            expect "$gate_name $standard, $file, no warning" \
                compile_all "$gate_name" "$file" "$standard"
        done
    done
}

# ------------------------------------------------------------- features ---

# refuses COMPILER STANDARD FILE TEXT: an error of the compiler that says TEXT.
refuses() {
    if ! "$1" -std="$2" -fsyntax-only "$folder/$3.c" >"$build/refused" 2>&1 &&
        grep 'error: ' "$build/refused" | grep -qF "$4"; then
        return
    fi
    cat "$build/refused"
    return 1
}

# links CODE_COMPILER USER_COMPILER USER_STANDARD CODE USER [FLAG...]: links the
# code of the header, as C, with a program that uses the code, and runs it.
links() {
    gate_code_compiler=$1 gate_user_compiler=$2 gate_user_standard=$3
    gate_code=$4 gate_user=$5
    shift 5
    compile "$gate_code_compiler" c11 "$gate_code" &&
        mv "$build/object.o" "$build/code.o" &&
        compile "$gate_user_compiler" "$gate_user_standard" "$gate_user" "$@" &&
        "$gate_user_compiler" -o "$build/linked" "$build/object.o" \
            "$build/code.o" &&
        "$build/linked"
}

# Only what stdint.h, stddef.h, stdbool.h and, by default, stdlib.h bring.
pulls_in_no_stdlib() {
    "$1" -std=c99 -H -fsyntax-only "$folder/own_memory.c" \
        2>"$build/includes" || return
    ! grep -E '/(stdlib|stdio|string|assert)\.h$' "$build/includes"
}

# The mailbox with the atomics of C++.
runs_as_cxx() {
    "$1" -std=c++11 -x c++ -DTIMINGWHEEL_IMPLEMENTATION \
        -o "$build/threads_own" "$folder/threads_user.c" &&
        "$build/threads_own"
}

gate_compiler_features() { # C COMPILER, C++ COMPILER
    have "$1" || return
    expect "$1, included again after the implementation" compile "$1" c99 thrice
    expect "$1, TW_STATIC, declared first and implemented later" \
        compile "$1" c99 static_twice
    expect "$1, TW_STATIC without the implementation" \
        compile "$1" c99 static_types
    expect "$1, TW_STATIC after the functions were declared is refused" \
        refuses "$1" c99 static_late 'define TW_STATIC before'
    expect "$1, TW_TYPES_ONLY, and the implementation later" \
        compile "$1" c99 types_only
    expect "$1, TW_TYPES_ONLY gives no prototypes" \
        compile "$1" c99 types_only -DOTHER_PROTOTYPE
    expect "$1, TW_MALLOC and TW_FREE of the host's own" \
        compile "$1" c99 own_memory
    expect "$1, TW_MALLOC of the host's own needs no stdlib.h" \
        pulls_in_no_stdlib "$1"
    for half in malloc_only free_only; do
        expect "$1, $half is refused" \
            refuses "$1" c99 $half 'TW_MALLOC and TW_FREE must be'
    done
    expect "$1, TIMINGWHEEL_THREADS as C99 is refused" \
        refuses "$1" c99 threads 'TIMINGWHEEL_THREADS needs'
    expect "$1, TIMINGWHEEL_THREADS with atomics that lock is refused" \
        refuses "$1" c11 threads_lock 'TIMINGWHEEL_THREADS needs'
    expect "$1, NDEBUG" compile "$1" c99 implementation -DNDEBUG
    expect "$1, TW_DEBUG with NDEBUG" \
        compile "$1" c99 implementation -DTW_DEBUG -DNDEBUG
    expect "$1, TW_DEBUG with a TW_ASSERT that does nothing" \
        compile "$1" c99 implementation -DTW_DEBUG '-DTW_ASSERT(expr)=((void)0)'
    expect "$1, -O3 and more warnings" \
        compile "$1" c99 implementation -O3 -Wcast-align -Wundef \
        -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
        -Wwrite-strings -Wcast-qual -Wvla -Wformat=2
    # To clang -Wpedantic the `bool` of stdbool.h is too new for C90.
    for standard in c90 gnu90; do
        expect "$1 $standard, declarations over C99 code, linked" links "$1" \
            "$1" $standard implementation c90_user -Wno-pedantic
    done
    expect "$1, TW_OWNER" compile "$1" c99 owner -Wcast-align -Wcast-qual
    expect "$1, two units linked" links "$1" "$1" c99 implementation user
    expect "$1, two units with threads linked" links "$1" "$1" c11 threads \
        threads_user
    expect "$1, two units with TW_STATIC linked" links "$1" "$1" c99 static \
        user -DTW_STATIC -DTIMINGWHEEL_IMPLEMENTATION
    if have "$2"; then
        expect "$1 code under a $2 user" links "$1" "$2" c++11 implementation \
            user
        expect "$1 code with threads under a $2 user" links "$1" "$2" c++11 \
            threads threads_user
        expect "$2, TW_OWNER" compile "$2" c++11 owner -Wcast-align \
            -Wcast-qual -Winvalid-offsetof -Wold-style-cast
        expect "$2, TIMINGWHEEL_THREADS, runs" runs_as_cxx "$2"
    fi
}

# gcc takes a function that does nothing but prefetch for one without effect,
# and drops the calls that it has not inlined.
prefetches() { # FLAG
    compile gcc c99 implementation "$1" &&
        objdump -d --no-show-raw-insn "$build/object.o" \
            >"$build/instructions" || return
    gate_prefetches=$(grep -c 'prefetch[a-z0-9]* *[0-9a-fx]*(' \
        "$build/instructions")
    echo "$gate_prefetches prefetch instructions"
    [ "$gate_prefetches" -ge 5 ]
}

gate_prefetching() {
    if [ "$(uname -m)" != x86_64 ] || ! have gcc || ! have objdump; then
        skip "prefetching" "it is looked for with gcc and objdump on x86-64"
        return
    fi
    for level in -Os -O1 -O2 -O3; do
        expect "gcc $level leaves the prefetching in" prefetches $level
    done
}

gate_reserved() {
    if ! have clang; then
        skip "no reserved identifier" "clang is missing"
        return
    fi
    expect "no reserved identifier" compile clang c11 twice \
        -Wreserved-identifier
    expect "no reserved identifier, threads" compile clang c11 threads \
        -Wreserved-identifier
}

gate_32_bit() {
    if ! runner=$(test/lib/runner32.sh); then
        skip "32 bits" "gcc -m32 does not work (gcc-12-multilib, qemu-user)"
        return
    fi
    expect "32 bits, no warning" compile gcc c99 implementation -m32
    expect "32 bits, runs" gcc -m32 -std=c99 \
        -o "$build/user32" "$folder/user.c" "$folder/implementation.c"
    # shellcheck disable=SC2086
    expect "32 bits, fires" $runner "$build/user32"
}

# ------------------------------------------------------- names that leak ---

# What the header defines beyond its own standard headers.
foreign_macros() {
    sed -n '/<atomic>/d; s/^#include </#include </p' "$header" \
        >"$build/standard.c"
    gcc -std=c11 -dM -E "$build/standard.c" >"$build/standard.macros" || return
    gcc -std=c11 -dM -E "$folder/$1" >"$build/all.macros" || return
    sort "$build/standard.macros" >"$build/standard.sorted"
    sort "$build/all.macros" | comm -13 "$build/standard.sorted" - |
        awk '{ sub(/\(.*/, "", $2); print $2 }' >"$build/added.macros"
    grep -q TW_VERSION_MAJOR "$build/added.macros" || echo "none found"
    grep -vE "$prefix" "$build/added.macros"
    true
}

# Every symbol of the object, the static functions and their clones included;
# but not the constants inside functions, which are named like `empty.0`.
foreign_symbols() {
    gcc -std=c11 "$1" -c -o "$build/symbols.o" \
        "$folder/$2" || return
    nm "$build/symbols.o" >"$build/symbols"
    grep -q ' T tw_start$' "$build/symbols" || echo "tw_start is missing"
    awk 'NF == 3 && !($2 == "r" && $3 ~ /\./) { print $3 }' "$build/symbols" |
        grep -vE "$prefix"
    true
}

# What the object calls: memory, and what a compiler puts in by itself.
foreign_calls() {
    gcc -std=c11 -O2 -c -o "$build/symbols.o" \
        "$folder/$1" || return
    nm -u "$build/symbols.o" | awk '{ print $2 }' |
        grep -vE '^(malloc|free|mem(set|cpy|move|cmp)|_GLOBAL_OFFSET_TABLE_)$'
    true
}

# Two wheels share nothing: the object has no variable.
variables() {
    gcc -std=c11 -O2 -c -o "$build/symbols.o" \
        "$folder/$1" || return
    nm "$build/symbols.o" | awk '$2 ~ /^[bBdDcCsSgG]$/'
}

# code_of FOLDER: the instructions and constants that the header there is
# compiled to.
code_of() {
    gcc -std=c99 -O2 -c -o "$build/symbols.o" \
        "$1/$folder/implementation.c" &&
        objdump -d -s -j .text -j .rodata "$build/symbols.o" | sed 1,3d
}

# Without TIMINGWHEEL_THREADS the header is as if it had no such section.
threads_cost() {
    mkdir -p "$build/plain/$folder"
    cp "$folder/implementation.c" "$build/plain/$folder"
    awk '/^#ifdef TIMINGWHEEL_THREADS$/ { out = 1 }
        !out { print }
        /^#endif \/\* TIMINGWHEEL_THREADS \*\/$/ { out = 0 }' "$header" \
        >"$build/plain/$header"
    ! cmp -s "$header" "$build/plain/$header" || echo 'no such section'
    ! grep -n 'stdatomic\|tw_mailbox_init' "$build/plain/$header"
    code_of . >"$build/with" && code_of "$build/plain" >"$build/without" &&
        grep -q 'tw_start>:' "$build/with" &&
        cmp "$build/with" "$build/without"
}

universal_ctags() {
    have ctags && ctags --version 2>/dev/null | grep -q Universal
}

# Types, tags, enumerators and functions, which leave no trace in an object.
foreign_tags() {
    ctags -x --language-force=C --c-kinds=defgstuv --_xformat='%N' "$header" \
        >"$build/tags" || return
    grep -q '^tw_timer$' "$build/tags" || echo "tw_timer is missing"
    grep -vE "$prefix" "$build/tags"
    true
}

# assert.h is for TW_DEBUG alone, which pulls_in_no_stdlib shows; stdatomic.h
# and atomic for TIMINGWHEEL_THREADS.
foreign_includes() {
    grep -n '^# *include' "$header" |
        grep -vE '<((stdbool|stddef|stdint|stdlib|assert|stdatomic)\.h|atomic)>'
    true
}

gate_names() {
    if ! have gcc || ! have nm; then
        skip "prefixes" "gcc or nm is missing"
        return
    fi
    expect_nothing "prefix of the macros, declarations" \
        foreign_macros declarations.c
    for file in implementation threads; do
        expect_nothing "prefix of the macros, $file" foreign_macros $file.c
        expect_nothing "prefix of the symbols, $file, -O0" \
            foreign_symbols -O0 $file.c
        expect_nothing "prefix of the symbols, $file, -O2" \
            foreign_symbols -O2 $file.c
        expect_nothing "calls nothing but malloc and free, $file" \
            foreign_calls $file.c
        expect_nothing "no global variable, $file" variables $file.c
    done
    if have objdump; then
        expect_nothing "the same code as if there were no mailbox" threads_cost
    else
        skip "the code without the mailbox" "objdump is missing"
    fi
    expect_nothing "includes nothing else" foreign_includes
    if universal_ctags; then
        expect_nothing "prefix of the types and functions" foreign_tags
    else
        skip "prefix of the types and functions" "universal-ctags is missing"
    fi
}

# ------------------------------------------------- unsigned numbers wrap ---

# Places of the header that clang's integer sanitizer reports while TEST runs:
# unsigned numbers that wrap and conversions that change a value. TWI_WRAPS
# marks the functions of the header in which numbers wrap on purpose. Tests wrap
# freely. With TW_DEBUG the rules about misuse are evaluated, too.
integer_reports() { # TEST OPTIONS [FLAG...]
    gate_test=$1 gate_options=$2
    shift 2
    gate_source=$(test/lib/programs.sh "$gate_test") || return
    clang -std="$(test/lib/standard.sh "$gate_source")" -O1 -g -pthread \
        -fsanitize=integer "-fsanitize-ignorelist=$build/wrapping" "$@" \
        -o "$build/integer" "$gate_source" || return
    # shellcheck disable=SC2086
    "$build/integer" $gate_options >"$build/integer.said" 2>&1
    grep -q '^1\.\.' "$build/integer.said" || echo "$gate_test did not run"
    sed -n 's/.*\(timingwheel\.h:[0-9:]*\) runtime error: /\1 /p' \
        "$build/integer.said" | sort -t : -k 2n -k 3n -u
}

gate_integer() {
    printf 'src:%s\n' '*.c' '*/lib/*' >"$build/wrapping"
    if ! have clang; then
        skip "no number wraps by accident" "clang is missing"
        return
    fi
    # shellcheck disable=SC2046
    promises=$(basename -as .c \
        $(grep -l '"../lib/letters.h"' $(test/lib/programs.sh)))
    for test in $promises found random structure memory mailbox; do
        gate_operations=
        [ "$test" != random ] || gate_operations='--operations 400000'
        expect_nothing "no number wraps by accident, $test" \
            integer_reports "$test" "$gate_operations"
    done
    for test in $promises found; do
        expect_nothing "no number wraps by accident, $test, TW_DEBUG" \
            integer_reports "$test" '' -DTW_DEBUG \
            '-DTW_ASSERT(expr)=((void)(expr))'
    done
}

# shellcheck disable=SC2086
for compiler in gcc clang; do
    gate_files='declarations implementation twice static'
    gate_language $compiler $c_standards
    gate_files='threads threads_declarations threads_static'
    gate_language $compiler $threads_c_standards
done
# shellcheck disable=SC2086
for compiler in g++ clang++; do
    gate_files='declarations implementation twice static
        threads threads_declarations threads_static'
    gate_language $compiler $cxx_standards
done
gate_compiler_features gcc g++
gate_compiler_features clang clang++
gate_prefetching
gate_reserved
gate_32_bit
gate_names
gate_integer
tap_end
