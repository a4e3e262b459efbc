#!/bin/sh
# foreign.sh - the header in the builds of other programs, with their warnings
# as errors, by gcc and clang, at -O0, -O2 and -Os. Also the header after global
# names of the host. Prints TAP. Run from the top of the repository. A case
# without its tool is skipped with a warning.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/foreign
. test/lib/tap.sh
. test/compile/subjects.sh
rm -rf "$build"
mkdir -p "$build"
write_subjects
cp test/compile/host_names.c "$build"

# The warnings of curl 7.88 (m4/curl-compilers.m4), FRRouting 8.4 (configure
# --enable-gcc-ultra-verbose), Tor 0.4 (--enable-gcc-warnings) and other hosts,
# for gcc and clang. Flags that a compiler does not know are left out, and those
# that -Wall and -Wextra bring.
hosts='-Wall -Wextra -Waddress-of-temporary -Waggregate-return -Walloc-zero
    -Wambiguous-macro -Warith-conversion -Warray-bounds-pointer-arithmetic
    -Warray-bounds=2 -Wassign-enum -Wbad-function-cast
    -Wbitfield-constant-conversion -Wbool-conversion -Wbuiltin-requires-header
    -Wcast-align -Wcast-qual -Wcomma -Wcompare-distinct-pointer-types
    -Wconditional-type-mismatch -Wconstant-conversion -Wconstant-logical-operand
    -Wconversion -Wdate-time -Wdeclaration-after-statement -Wdivision-by-zero
    -Wdollar-in-identifier-extension -Wdouble-promotion
    -Wduplicate-decl-specifier -Wduplicate-enum -Wduplicated-branches
    -Wduplicated-cond -Wembedded-directive -Wempty-translation-unit
    -Wendif-labels -Werror-implicit-function-declaration -Wextra-semi-stmt
    -Wextra-tokens -Wflexible-array-extensions -Wfloat-conversion -Wfloat-equal
    -Wformat-overflow=2 -Wformat-truncation=2 -Wformat=2 -Wfour-char-constants
    -Wgcc-compat -Wgnu-designator -Wheader-guard -Wignored-attributes
    -Wincompatible-pointer-types-discards-qualifiers -Winline -Wint-conversions
    -Wint-to-void-pointer-cast -Winteger-overflow -Wliteral-conversion
    -Wliteral-range -Wlogical-op -Wloop-analysis -Wmissing-declarations
    -Wmissing-format-attribute -Wmissing-noreturn -Wmissing-prototypes
    -Wmissing-variable-declarations -Wnested-anon-types -Wnested-externs
    -Wnewline-eof -Wnon-literal-null-conversion -Wnormalized=nfkc
    -Wnull-arithmetic -Wnull-conversion -Wnull-dereference
    -Wold-style-definition -Wover-aligned -Woverlength-strings -Wpacked -Wpadded
    -Wpointer-arith -Wpointer-type-mismatch -Wredundant-decls -Wrestrict
    -Wreturn-stack-address -Wsection -Wsentinel -Wshadow -Wshift-count-negative
    -Wshift-count-overflow -Wshift-negative-value -Wshift-overflow=2
    -Wshift-sign-overflow -Wshorten-64-to-32 -Wstatic-in-inline
    -Wstatic-local-in-inline -Wstrict-aliasing=3 -Wstrict-overflow=1
    -Wstrict-prototypes -Wstring-conversion -Wsuggest-attribute=format
    -Wsuggest-attribute=noreturn -Wswitch-enum -Wsync-nand
    -Wtautological-constant-out-of-range-compare
    -Wtentative-definition-incomplete-type -Wtrampolines -Wtypedef-redefinition
    -Wundef -Wundefined-inline -Wundefined-internal -Wunreachable-code
    -Wunused-const-variable=2 -Wvariadic-macros -Wvla -Wwrite-strings
    -fdelete-null-pointer-checks -fms-extensions -ftree-vrp -pedantic
    -Wno-sign-conversion'
hosts_cxx='-std=c++11 -Wall -Wextra -Winline -Wshadow -Wpadded -Wcast-qual
    -Wconversion -Wold-style-cast -Wzero-as-null-pointer-constant'

# knows COMPILER FLAG...: prints the flags that the compiler knows.
knows() {
    known_by=$1
    shift
    for flag; do
        ! "$known_by" -Werror -x $language "$flag" -fsyntax-only \
            test/compile/empty.c >/dev/null 2>&1 || echo "$flag"
    done
}

# compiles COMPILER FILES FLAG...: each file at each level of optimization.
compiles() {
    compiler=$1 files=$2
    shift 2
    for file in $files; do
        for level in -O0 -O2 -Os; do
            "$compiler" -Werror -x "$language" -I. "$@" $level -c \
                -o "$build/object.o" "$build/$file.c" || return
        done
    done
}

# host FLAG...: the ways to include the header in a host.
host() {
    # shellcheck disable=SC2046
    set -- $(knows "$compiler" "$@")
    expect "$compiler, $# warnings of hosts" compiles "$compiler" \
        'implementation static_twice types_then_static' "$@"
}

# The warnings are lists of words.
# shellcheck disable=SC2086
for compiler in gcc clang g++ clang++; do
    if ! have $compiler; then
        skip "$compiler, warnings of hosts" "$compiler is missing"
        continue
    fi
    case $compiler in
    *++)
        language=c++ standard=c++11
        host $hosts_cxx
        ;;
    *)
        language=c standard=c11
        host -std=gnu99 -fms-extensions $hosts
        ;;
    esac
    for kind in TYPES VARIABLES FUNCTIONS; do
        expect "$compiler, a host with global $kind of common names" \
            compiles $compiler host_names -std=$standard -Wall -Wextra \
            -Wshadow -DHOST_$kind
    done
done
tap_end
