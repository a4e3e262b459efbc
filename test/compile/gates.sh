#!/bin/sh
# gates.sh - what timingwheel.h must be before it runs: the header compiles
# everywhere without a warning, refuses wrong uses, leaks no name, and its code
# stays small. Prints TAP. A case without its tool is skipped with a warning.
# Run from the top of the repository:
#
#     test/compile/gates.sh
#
# Nothing in test/compile runs timers for long. interface.sh compares the public
# interface with a list, and lint.sh checks the text of all files: format,
# warnings, scripts. subjects.sh writes the small files that gates.sh and
# lint.sh compile. user.c, throws.cpp and empty.c are compiled, too.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/gates
header=timingwheel.h
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
prefix='^(tw_|TW_|timingwheel$|timingwheel_|TIMINGWHEEL_|twi_|TWI_)'
. test/lib/tap.sh
. test/compile/subjects.sh
rm -rf "$build"
mkdir -p "$build"
write_subjects
cp test/compile/user.c "$build"

# --------------------------------------------------------------- compilers ---

# compile COMPILER STANDARD FILE [FLAG...]: prints the warnings. A C++ compiler
# takes the file as C++.
compile() {
    compiler=$1 standard=$2 file=$3
    shift 3
    case $standard in *++*) set -- -x c++ "$@" ;; esac
    # shellcheck disable=SC2086
    $compiler -std="$standard" -O2 $warnings -I. "$@" -c \
        -o "$build/object.o" "$build/$file.c"
}

# compiles COMPILER OLD NEW FILE: in both standards, and with TW_DEBUG.
compiles() {
    compile "$1" "$2" "$4" && compile "$1" "$3" "$4" &&
        compile "$1" "$2" "$4" -O0 -DTW_DEBUG
}

# refuses FILE STANDARD TEXT: an error of the compiler that says TEXT.
refuses() {
    if ! compile "$c" "$2" "$1" >"$build/refused" 2>&1 &&
        grep 'error: ' "$build/refused" | grep -qF "$3"; then
        return
    fi
    cat "$build/refused"
    return 1
}

# links CODE STANDARD FLAG...: the code, as C by $c, with the program user.c by
# $user; runs the program.
links() {
    code=$1 user_standard=$2
    shift 2
    compile "$c" c11 "$code" && mv "$build/object.o" "$build/code.o" &&
        compile "$user" "$user_standard" user "$@" &&
        $user "$build/object.o" "$build/code.o" -o "$build/linked" &&
        "$build/linked"
}

# Only what stdint.h, stddef.h and stdbool.h bring.
includes_no_stdlib() {
    compile "$c" c99 own_memory -H 2>"$build/includes" || return
    ! grep -E '/(stdlib|stdio|string|assert)\.h$' "$build/includes"
}

# The header and its user as one program of C++, the mailbox included.
runs_as_cxx() {
    # shellcheck disable=SC2086
    $cxx -std=c++11 -x c++ $warnings -I. -DTIMINGWHEEL_THREADS "$@" \
        -DTIMINGWHEEL_IMPLEMENTATION -o "$build/as_cxx" "$build/user.c" &&
        "$build/as_cxx"
}

# Exceptions pass through the calls.
throws() {
    # shellcheck disable=SC2086
    $cxx -std=c++11 -O2 $warnings -I. "$@" -o "$build/throws" \
        test/compile/throws.cpp && "$build/throws"
}

# Programs that include the header have warnings of their own: all that clang
# knows, and those that gcc alone has.
foreign_gcc='-Waggregate-return -Walloc-zero -Warith-conversion
    -Warray-bounds=2 -Wduplicated-branches -Wduplicated-cond -Winline
    -Wlogical-op -Wnull-dereference -Wstrict-overflow=1
    -Wsuggest-attribute=noreturn -Wtrampolines'
foreign_clang='-Weverything -Wno-unknown-warning-option
    -Wno-unsafe-buffer-usage'

# foreign COMPILER STANDARD FLAG...: in the build of another program.
foreign() {
    foreign_compiler=$1 foreign_standard=$2
    shift 2
    for file in threads static_twice types_then_static; do
        compile "$foreign_compiler" "$foreign_standard" "$file" "$@" || return
    done
}

# common_names COMPILER STANDARD: after global names of the program.
common_names() {
    for names in types variables functions; do
        compile "$1" "$2" host_$names || return
    done
}

plain='declarations implementation twice thrice static static_twice
    static_types static_in_struct types_only types_then_static own_memory'
threads='threads threads_declarations threads_static'
threads_refused='TIMINGWHEEL_THREADS needs'
memory_refused='TW_MALLOC and TW_FREE must be'

# shellcheck disable=SC2086
c_cases() {
    for subject in $plain; do
        expect "$c, $subject, no warning" compiles "$c" c99 c2x "$subject"
    done
    for subject in $threads; do
        expect "$c, $subject, no warning" compiles "$c" c11 c2x "$subject"
    done
    case $c in gcc) set -- $foreign_gcc ;; *) set -- $foreign_clang ;; esac
    expect "$c, warnings of other programs" foreign "$c" gnu11 "$@"
    expect "$c, after common names" common_names "$c" c11
    expect "$c, TW_DEBUG with NDEBUG" compile "$c" c99 implementation \
        -DTW_DEBUG -DNDEBUG
    expect "$c, TW_DEBUG with a TW_ASSERT that does nothing" compile "$c" c99 \
        implementation -DTW_DEBUG '-DTW_ASSERT(expr)=((void)0)'
    expect "$c, without builtins" compile "$c" c11 threads -DTWI_PORTABLE
    expect "$c, own memory needs no stdlib.h" includes_no_stdlib
    expect "$c, TW_STATIC too late" refuses static_late c99 \
        'define TW_STATIC before'
    expect "$c, TW_MALLOC alone" refuses malloc_only c99 "$memory_refused"
    expect "$c, TW_FREE alone" refuses free_only c99 "$memory_refused"
    expect "$c, threads as C99" refuses threads c99 "$threads_refused"
    expect "$c, threads with atomics that lock" refuses threads_lock c11 \
        "$threads_refused"
    user=$c
    expect "$c, C90 declarations over C99 code" links implementation c90 \
        -Wno-pedantic -Wcast-align -Wcast-qual
    expect "$c, two units with threads" links threads c11 -DTIMINGWHEEL_THREADS
}

# shellcheck disable=SC2086
cxx_cases() {
    case $cxx in g++) set -- -Wuseless-cast ;; *) set -- $foreign_clang ;; esac
    expect "$cxx, warnings of other programs" foreign "$cxx" c++11 "$@"
    expect "$cxx, after common names" common_names "$cxx" c++11
    for subject in $plain $threads extern_c; do
        expect "$cxx, $subject, no warning" \
            compiles "$cxx" c++11 c++20 "$subject"
    done
    user=$cxx
    expect "$c code under a $cxx user" links implementation c++11 -Wcast-align \
        -Wcast-qual -Winvalid-offsetof -Wold-style-cast
    expect "$c code with threads under a $cxx user" links threads c++11 \
        -DTIMINGWHEEL_THREADS
    expect "$cxx, runs" runs_as_cxx
    expect "$cxx, runs without exceptions" runs_as_cxx -fno-exceptions
    expect "$cxx, exceptions pass" throws
    case $cxx in clang*)
        expect "$cxx, exceptions pass, extern \"C\" never throws" \
            throws -Xclang -fexternc-nounwind
        ;;
    esac
}

for c in gcc clang; do
    cxx=$(echo $c | sed 's/gcc/g++/; s/clang/clang++/')
    if have "$c"; then c_cases; else skip "$c" "$c is missing"; fi
    if have "$cxx"; then cxx_cases; else skip "$cxx" "$cxx is missing"; fi
done

# ---------------------------------------------------------------- machines ---

# Systems that nobody here has: clang reads the header as their compilers would,
# with its own headers instead of those of the system. Without __clang__ the
# header takes clang for Microsoft's compiler. The mailbox is read as C alone,
# because C++ has <atomic> in a library.
machines='x86_64-pc-windows-msvc i686-pc-windows-msvc aarch64-pc-windows-msvc
    arm64-apple-macos x86_64-unknown-freebsd aarch64-unknown-openbsd'

# reads TARGET FLAG...
reads() {
    target=$1
    shift
    for file in 'own_memory -std=c99 -x c' 'own_memory -std=c++11 -x c++' \
        'threads_own_memory -std=c11 -x c'; do
        # shellcheck disable=SC2086
        clang --target="$target" -fsyntax-only -ffreestanding $warnings "$@" \
            -Wno-stdlibcxx-not-found -I. ${file#* } "$build/${file%% *}.c" ||
            return
    done
}

if have clang; then
    for machine in $machines; do
        case $machine in
        *windows*)
            expect "clang for $machine" reads "$machine" -fms-compatibility
            expect "clang for $machine, without __clang__" \
                reads "$machine" -fms-compatibility -U__clang__
            ;;
        *) expect "clang for $machine" reads "$machine" ;;
        esac
    done
else
    skip 'other systems' 'clang is missing'
fi

# ------------------------------------------------------------------- names ---

# symbols FLAG...: every symbol of the object.
symbols() {
    compile gcc c11 threads "$@" && nm "$build/object.o" >"$build/symbols"
    grep -q ' T tw_start$' "$build/symbols" || echo 'tw_start is missing'
}

# What the object calls: memory, and what a compiler puts in by itself. gcc
# makes calloc of malloc and zeros.
foreign_calls() {
    symbols -O2 -fno-pie
    awk '$1 == "U" { print $2 }' "$build/symbols" |
        grep -vE '^([mc]alloc|free|mem(set|cpy|move|cmp))$' |
        grep -v '^_GLOBAL_OFFSET_TABLE_$'
    true
}

# Two wheels share nothing: the object has no variable. (With -fpie a constant
# pointer is one, while the program is loaded.)
variables() {
    symbols -O2 -fno-pie
    awk '$2 ~ /^[bBdDcCsSgG]$/' "$build/symbols"
}

# Macros, types, tags, enumerators and functions, all in the text of the header.
foreign_tags() {
    ctags -x --language-force=C --c-kinds=defgstuv --_xformat='%N' "$header" \
        >"$build/tags" || return
    grep -q '^tw_timer$' "$build/tags" || echo "tw_timer is missing"
    sed 's/^~//' "$build/tags" | grep -vE "$prefix" || :
}

# Tests of the contract use public names only.
private_names() {
    grep -nE '\b(twi_|TWI_)' -r test/contract || :
}

expect_nothing 'no private name in test/contract' private_names
if have gcc && have nm; then
    expect_nothing 'calls nothing but malloc and free' foreign_calls
    expect_nothing 'no global variable' variables
else
    skip 'names in the object' 'gcc or nm is missing'
fi

# ------------------------------------------------------------------ limits ---

# gcc takes a function that only prefetches for one without effect, and drops
# the calls that gcc has not inlined.
prefetches() {
    compile gcc c99 implementation "$1" && objdump -d --no-show-raw-insn \
        "$build/object.o" >"$build/instructions" || return
    grep -q 'prefetch[a-z0-9]* *[0-9a-fx]*(' "$build/instructions"
}

# costs COLUMN PREFIX [FLAG...]: the table COSTS of the manual is true for the
# machine of PREFIXgcc. KB are thousands of bytes.
costs() {
    column=$1 tools=$2
    shift 2
    "${tools}gcc" -std=c99 -Os -I. "$@" -c -o "$build/object.o" \
        "$build/implementation.c" || return
    code=$("${tools}size" "$build/object.o" | awk 'NR == 2 { print $1 }')
    {
        echo '#include "timingwheel.h"'
        awk -v n="$column" -v code="$code" '
            function claim(holds) {
                print "typedef char claim_" ++claims "[" holds " ? 1 : -1];"
            }
            /^   COSTS/ { inside = 1 }
            !inside { next }
            { gsub(",", "") }
            $1 ~ /^(tw_timer|timingwheel)$/ {
                claim("sizeof(" $1 ") == " $(n + 1))
            }
            sub(/^   a wheel of 256 of 16/, "") {
                claim("(TW_WHEEL_BYTES(256) + 500UL) / 1000 == " $(3 * n - 2))
                claim("TW_WHEEL_BYTES(16) == " $(3 * n))
            }
            sub(/^   code gcc -Os/, "") {
                claim("(" code "L + 500) / 1000 == " $(2 * n - 1))
                exit
            }
            END { if (claims != 5) print "#error", claims, "claims" }
        ' "$header"
    } >"$build/costs.c"
    "${tools}gcc" -std=c99 -I. "$@" -c -o "$build/object.o" "$build/costs.c"
}

if have ctags && ctags --version 2>/dev/null | grep -q Universal; then
    expect_nothing 'prefix of the macros, types and functions' foreign_tags
else
    skip 'prefix of the names' 'universal-ctags is missing'
fi
if have gcc && have objdump && [ "$(uname -m)" = x86_64 ]; then
    for level in -Os -O1 -O2 -O3; do
        expect "gcc $level leaves the prefetching in" prefetches $level
    done
else
    skip 'prefetching' 'this is for gcc and objdump on x86-64'
fi
while read -r column machine flags; do
    title="COSTS of the manual, $machine"
    # shellcheck disable=SC2086
    if have "${machine}gcc"; then
        expect "$title" costs "$column" "$machine" $flags
    else
        skip "$title" "${machine}gcc is missing"
    fi
done <<'END'
1 x86_64-linux-gnu-
2 arm-none-eabi- -mcpu=cortex-m3 -mthumb
3 avr- -mmcu=atmega2560
END
tap_end
