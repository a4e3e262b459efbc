#!/bin/sh
# gates.sh - what timingwheel.h must be as a text, before it is run: compiles
# everywhere without a warning, leaks no name, keeps to its own style, and
# nothing that static analysis can find. Prints TAP. Run from the top of the
# repository. What a tool is missing for is skipped, loudly; with STRICT set it
# fails.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/gates
. test/lib/tap.sh

header=timingwheel.h
c_standards='c99 c11 c17 c2x'
cxx_standards='c++11 c++14 c++17 c++20'
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
prefix='^(tw_|TW_|timingwheel$|timingwheel_|TIMINGWHEEL_|twi_|TWI_)'

rm -rf "$build"
mkdir -p "$build"

# program FILE LINE...: a small program to be compiled.
program() {
    tap_file=$build/$1
    shift
    printf '%s\n' "$@" >"$tap_file"
}

implementation='#define TIMINGWHEEL_IMPLEMENTATION'
include='#include "timingwheel.h"'
threads='#define TIMINGWHEEL_THREADS'
threads_c_standards='c11 c17 c2x'
program threads.c "$threads" "$implementation" "$include"
program threads_declarations.c "$threads" "$include"
program threads_lock.c '#include <stdatomic.h>' \
    '#undef ATOMIC_LLONG_LOCK_FREE' '#define ATOMIC_LLONG_LOCK_FREE 1' \
    "$threads" "$include"
program threads_static.c '#define TW_STATIC' "$threads" "$implementation" \
    "$include"
program threads_user.c "$threads" "$include" \
    'int main(void)' \
    '{' \
    '    timingwheel tw;' \
    '    tw_mailbox box;' \
    '    tw_remote remote;' \
    '    tw_init(&tw, NULL);' \
    '    tw_mailbox_init(&box, &tw, NULL, NULL);' \
    '    tw_remote_init(&remote, NULL);' \
    '    tw_post_start(&box, &remote, 5);' \
    '    size_t fired = tw_collect(&box) + tw_advance_clock(&tw, 5);' \
    '    tw_destroy(&tw);' \
    '    return fired != 1 || !tw_remote_settled(&remote);' \
    '}'
program declarations.c "$include"
program implementation.c "$implementation" "$include"
program twice.c "$include" "$implementation" "$include"
program thrice.c "$include" "$implementation" "$include" "$include"
program static.c '#define TW_STATIC' "$implementation" "$include"
program static_twice.c '#define TW_STATIC' "$include" "$implementation" \
    "$include"
program own_memory.c '#include <stddef.h>' \
    'extern void *own_malloc(size_t size, void *context);' \
    'extern void own_free(void *pointer, void *context);' \
    '#define TW_MALLOC(size, context) own_malloc((size), (context))' \
    '#define TW_FREE(pointer, context) own_free((pointer), (context))' \
    "$implementation" "$include"
program half_memory.c '#include <stdlib.h>' \
    '#define TW_MALLOC(size, context) ((void)(context), malloc(size))' \
    "$implementation" "$include"
program other_half.c '#include <stdlib.h>' \
    '#define TW_FREE(pointer, context) ((void)(context), free(pointer))' \
    "$implementation" "$include"
program user.c "$include" \
    'int main(void)' \
    '{' \
    '    timingwheel tw;' \
    '    tw_timer timer = TW_TIMER_INIT(NULL);' \
    '    tw_init(&tw, NULL);' \
    '    if (tw_start(&tw, &timer, 5) != TW_OK)' \
    '        return 1;' \
    '    size_t fired = tw_advance_clock(&tw, 5);' \
    '    tw_destroy(&tw);' \
    '    return fired != 1;' \
    '}'
program owner.c "$include" \
    'struct owner { int before; tw_timer timer; };' \
    'struct owner *owner_of(tw_timer *timer);' \
    'struct owner *owner_of(tw_timer *timer)' \
    '{' \
    '    return TW_OWNER(timer, struct owner, timer);' \
    '}' \
    'const struct owner *constant_owner_of(const tw_timer *timer);' \
    'const struct owner *constant_owner_of(const tw_timer *timer)' \
    '{' \
    '    return TW_OWNER(timer, const struct owner, timer);' \
    '}' \
    'const struct owner *constant_view_of(tw_timer *timer);' \
    'const struct owner *constant_view_of(tw_timer *timer)' \
    '{' \
    '    return TW_OWNER(timer, const struct owner, timer);' \
    '}'
program c90.c "$include" \
    'static tw_timer timer = TW_TIMER_INIT(NULL);' \
    'int main(void)' \
    '{' \
    '    timingwheel tw;' \
    '    tw_init(&tw, NULL);' \
    '    if (tw_start(&tw, &timer, 5) != TW_OK)' \
    '        return 1;' \
    '    return tw_advance_clock(&tw, 5) != 1 ||' \
    '           TW_OWNER(&timer, tw_timer, place) != &timer;' \
    '}'
# Inside a C++ program the C casts of a C header are no fault.
for file in declarations implementation twice static user owner \
    threads threads_declarations threads_static threads_user; do
    cp "$build/$file.c" "$build/$file.cpp"
done

# compile COMPILER STANDARD FILE [FLAG...]: all of its output is lost but the
# warnings.
compile() {
    gate_compiler=$1 gate_standard=$2 gate_file=$3
    shift 3
    # shellcheck disable=SC2086
    "$gate_compiler" -std="$gate_standard" -O2 $warnings "$@" -I. -c \
        -o "$build/object.o" "$build/$gate_file"
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

gate_language() { # COMPILER SUFFIX STANDARD...
    gate_name=$1 gate_suffix=$2
    shift 2
    if ! have "$gate_name"; then
        skip "$gate_name $*" "$gate_name is missing"
        return
    fi
    for file in $gate_files; do
        for standard; do
            expect "$gate_name $standard, $file, no warning" \
                compile_all "$gate_name" "$file.$gate_suffix" "$standard"
        done
    done
}

link_two_units() { # COMPILER OF THE CODE, COMPILER OF THE USER, SUFFIX
    compile "$1" c99 implementation.c &&
        mv "$build/object.o" "$build/implementation.o" &&
        "$2" -I. -o "$build/two_units" "$build/user.$3" \
            "$build/implementation.o" &&
        "$build/two_units" &&
        compile "$1" c11 threads.c &&
        "$2" -I. -o "$build/two_units" "$build/threads_user.$3" \
            "$build/object.o" &&
        "$build/two_units"
}

# A program of C90 that uses the header; its code is compiled as C99. (To clang
# -Wpedantic the `bool` of stdbool.h is too new.)
link_c90() { # COMPILER STANDARD
    compile "$1" c99 implementation.c &&
        mv "$build/object.o" "$build/implementation.o" &&
        compile "$1" "$2" c90.c -Wno-pedantic &&
        "$1" -o "$build/c90" "$build/object.o" "$build/implementation.o" &&
        "$build/c90"
}

link_two_static() {
    {
        printf '%s\n' '#define TW_STATIC' "$implementation"
        cat "$build/user.c"
    } >"$build/static_user.c"
    "$1" -std=c99 -I. -o "$build/two_static" "$build/static_user.c" \
        "$build/static.c" && "$build/two_static"
}

# Only what stdint.h, stddef.h, stdbool.h and, by default, stdlib.h bring.
pulls_in_no_stdlib() {
    "$1" -std=c99 -I. -H -fsyntax-only "$build/own_memory.c" \
        2>"$build/includes" || return
    ! grep -E '/(stdlib|stdio|string|assert)\.h$' "$build/includes"
}

# The mailbox with the atomics of C++.
runs_as_cxx() {
    {
        echo "$implementation"
        cat "$build/threads_user.c"
    } >"$build/threads_own.cpp"
    "$1" -std=c++11 -I. -o "$build/threads_own" "$build/threads_own.cpp" &&
        "$build/threads_own"
}

# Neither C99 nor a processor that would need a lock.
no_atomics_are_refused() {
    ! "$1" -std=c99 -I. -fsyntax-only "$build/threads.c" 2>/dev/null &&
        ! "$1" -std=c11 -I. -fsyntax-only "$build/threads_lock.c" 2>/dev/null
}

half_memory_is_refused() {
    ! "$1" -std=c99 -I. -fsyntax-only "$build/half_memory.c" 2>/dev/null &&
        ! "$1" -std=c99 -I. -fsyntax-only "$build/other_half.c" 2>/dev/null
}

gate_compiler_features() { # C COMPILER, C++ COMPILER
    have "$1" || return
    expect "$1, included again after the implementation" \
        compile "$1" c99 thrice.c
    expect "$1, TW_STATIC, declared first and implemented later" \
        compile "$1" c99 static_twice.c
    expect "$1, TW_MALLOC and TW_FREE of one's own" \
        compile "$1" c99 own_memory.c
    expect "$1, TW_MALLOC of one's own needs no stdlib.h" \
        pulls_in_no_stdlib "$1"
    expect "$1, TW_MALLOC or TW_FREE without the other is refused" \
        half_memory_is_refused "$1"
    expect "$1, TIMINGWHEEL_THREADS without atomics is refused" \
        no_atomics_are_refused "$1"
    expect "$1, NDEBUG" compile "$1" c99 implementation.c -DNDEBUG
    expect "$1, TW_DEBUG with NDEBUG" \
        compile "$1" c99 implementation.c -DTW_DEBUG -DNDEBUG
    expect "$1, TW_DEBUG with a TW_ASSERT that does nothing" \
        compile "$1" c99 implementation.c -DTW_DEBUG \
        '-DTW_ASSERT(expr)=((void)0)'
    expect "$1, -O3 and more warnings" \
        compile "$1" c99 implementation.c -O3 -Wcast-align -Wundef \
        -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
        -Wwrite-strings -Wcast-qual -Wvla -Wformat=2
    for standard in c90 gnu90; do
        expect "$1 $standard, declarations over C99 code, linked" \
            link_c90 "$1" $standard
    done
    expect "$1, TW_OWNER" compile "$1" c99 owner.c -Wcast-align -Wcast-qual
    expect "$1, two units linked" link_two_units "$1" "$1" c
    expect "$1, two units with TW_STATIC linked" link_two_static "$1"
    if have "$2"; then
        expect "$1 code under a $2 user" link_two_units "$1" "$2" cpp
        expect "$2, TW_OWNER" compile "$2" c++11 owner.cpp -Wcast-align \
            -Wcast-qual -Winvalid-offsetof -Wold-style-cast
        expect "$2, TIMINGWHEEL_THREADS, runs" runs_as_cxx "$2"
    fi
}

# gcc takes a function that does nothing but prefetch for one without effect,
# and drops the calls that it has not inlined.
prefetches() { # FLAG
    compile gcc c99 implementation.c "$1" &&
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
    expect "no reserved identifier" compile clang c11 twice.c \
        -Wreserved-identifier
    expect "no reserved identifier, threads" compile clang c11 threads.c \
        -Wreserved-identifier
}

gate_32_bit() {
    program empty.c '#include <stdlib.h>' 'int main(void) { return 0; }'
    if ! gcc -m32 -o "$build/empty" "$build/empty.c" >/dev/null 2>&1; then
        skip "32 bits" "gcc -m32 does not work (gcc-12-multilib)"
        return
    fi
    expect "32 bits, no warning" compile gcc c99 implementation.c -m32
    expect "32 bits, runs" gcc -m32 -std=c99 -I. \
        -o "$build/user32" "$build/user.c" "$build/implementation.c"
    expect "32 bits, fires" "$build/user32"
}

# ------------------------------------------------------- names that leak ---

# What the header defines beyond its own standard headers.
foreign_macros() {
    sed -n '/<atomic>/d; s/^#include </#include </p' "$header" \
        >"$build/standard.c"
    gcc -std=c11 -dM -E "$build/standard.c" >"$build/standard.macros" || return
    gcc -std=c11 -dM -E -I. "$build/$1" >"$build/all.macros" || return
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
    gcc -std=c11 "$1" -I. -c -o "$build/symbols.o" \
        "$build/$2" || return
    nm "$build/symbols.o" >"$build/symbols"
    grep -q ' T tw_start$' "$build/symbols" || echo "tw_start is missing"
    awk 'NF == 3 && !($2 == "r" && $3 ~ /\./) { print $3 }' "$build/symbols" |
        grep -vE "$prefix"
    true
}

# What the object calls: memory, and what a compiler puts in by itself.
foreign_calls() {
    gcc -std=c11 -O2 -I. -c -o "$build/symbols.o" \
        "$build/$1" || return
    nm -u "$build/symbols.o" | awk '{ print $2 }' |
        grep -vE '^(malloc|free|mem(set|cpy|move|cmp)|_GLOBAL_OFFSET_TABLE_)$'
    true
}

# Two wheels share nothing: the object has no variable.
variables() {
    gcc -std=c11 -O2 -I. -c -o "$build/symbols.o" \
        "$build/$1" || return
    nm "$build/symbols.o" | awk '$2 ~ /^[bBdDcCsSgG]$/'
}

# code_of FILE: the instructions and constants that it is compiled to.
code_of() {
    gcc -std=c99 -O2 -I"$1" -c -o "$build/symbols.o" \
        "$build/implementation.c" &&
        objdump -d -s -j .text -j .rodata "$build/symbols.o" | sed 1,3d
}

# Without TIMINGWHEEL_THREADS the header is as if it had no such section.
threads_cost() {
    mkdir -p "$build/plain"
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
        [ $test != random ] || gate_operations='--operations 400000'
        expect_nothing "no number wraps by accident, $test" \
            integer_reports $test "$gate_operations"
    done
    for test in $promises found; do
        expect_nothing "no number wraps by accident, $test, TW_DEBUG" \
            integer_reports $test '' -DTW_DEBUG \
            '-DTW_ASSERT(expr)=((void)(expr))'
    done
}

# ----------------------------------------------------------------- style ---

universal_ctags() {
    have ctags && ctags --version 2>/dev/null | grep -q Universal
}

# The program text of the repository.
sources() {
    find timingwheel.h test bench -name '*.[ch]' -o -name '*.cpp' -o \
        -name '*.sh'
}

# The other programs, held to the same warnings; what needs a package that is
# missing here is left out by the benchmark too. The recipes for event loops are
# held to them by recipes.sh, which knows their libraries; those in test/hosts
# need the sources of the hosts, and are compiled with them. your_loop.c needs
# lines of README.md, and is compiled by examples.sh.
gate_programs() {
    glib=$(pkg-config --cflags glib-2.0 2>/dev/null) || glib=
    for file in test/recipes/epoll.c \
        $(find test bench -path test/recipes -prune -o -path test/hosts -prune \
            -o -name '*.c' ! -name your_loop.c -print); do
        for compiler in gcc clang; do
            have $compiler || continue
            # shellcheck disable=SC2086
            expect "$compiler, $file, no warning" $compiler \
                -std="$(test/lib/standard.sh "$file")" \
                $warnings -O2 -fsyntax-only $glib "$file"
        done
    done
}

long_lines() {
    awk 'length($0) > 80 { print FILENAME ":" FNR ": " length($0) }' $(sources)
}

odd_bytes() {
    LC_ALL=C grep -n '[^ -~]' /dev/null $(sources)
    LC_ALL=C grep -n ' $' /dev/null $(sources)
    true
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
    if ! universal_ctags; then
        skip "function lengths and tags" "universal-ctags is missing"
        return
    fi
    expect_nothing "no function over 60 lines" long_functions
    expect_nothing "prefix of the types and functions" foreign_tags
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
        -checks="$tidy_checks" "$build/threads.c" -- -std=c11 -I.
}

# What cppcheck is told not to report, and why:
# - arrayIndexOutOfBoundsCond: it reads `while (index > 0 && ... [(index - 1) /
#   2])` as if the index were used where it is 0.
# - useStandardLibrary: it wants memset, which needs <string.h>; the header
#   promises to do without.
run_cppcheck() {
    cppcheck -q --error-exitcode=1 --std=c11 --language=c -I. \
        --enable=warning,style,performance,portability \
        --suppress=arrayIndexOutOfBoundsCond --suppress=useStandardLibrary \
        "$build/threads.c"
}

# -Wno-analyzer-malloc-leak: a wheel stands in the memory that it points to, at
# an address that was rounded up through an integer, and gcc 12 loses sight of
# it there. Leaks are what LeakSanitizer and valgrind look for in every test.
run_fanalyzer() {
    gcc -std=c11 -O1 -I. -fanalyzer -Wno-analyzer-malloc-leak -Werror -c \
        -o "$build/object.o" "$build/threads.c"
}

gate_analysis() {
    if have gcc; then
        expect "gcc -fanalyzer" run_fanalyzer
    else
        skip "gcc -fanalyzer" "gcc is missing"
    fi
    if have clang; then
        expect_nothing "clang --analyze" clang --analyze -std=c11 -I. \
            --analyzer-output text "$build/threads.c"
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

# shellcheck disable=SC2086
for compiler in gcc clang; do
    gate_files='declarations implementation twice static'
    gate_language $compiler c $c_standards
    gate_files='threads threads_declarations threads_static'
    gate_language $compiler c $threads_c_standards
done
# shellcheck disable=SC2086
for compiler in g++ clang++; do
    gate_files='declarations implementation twice static
        threads threads_declarations threads_static'
    gate_language $compiler cpp $cxx_standards
done
gate_compiler_features gcc g++
gate_compiler_features clang clang++
gate_prefetching
gate_reserved
gate_32_bit
gate_names
gate_integer
gate_programs
gate_style
gate_analysis
tap_end
