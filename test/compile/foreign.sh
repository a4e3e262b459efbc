#!/bin/sh
# foreign.sh - the header in the builds of other programs, with their warnings
# as errors: curl, FRRouting, Tor, and more, by gcc and clang, at -O0, -O2 and
# -Os. Also the header after global names of the host. Prints TAP. Run from the
# top of the repository. A case without its tool is skipped with a warning.
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

# Each list is for gcc and for clang. Flags that a compiler does not know are
# left out.

# curl 7.88: ./configure --enable-debug, m4/curl-compilers.m4. curl is C90, and
# compiles the file with the implementation as gnu99.
curl='-std=gnu99 -Werror-implicit-function-declaration -pedantic -Wall -W
    -Wpointer-arith -Wwrite-strings -Wunused -Wshadow -Winline -Wnested-externs
    -Wmissing-declarations -Wmissing-prototypes -Wno-long-long
    -Wbad-function-cast -Wfloat-equal -Wno-multichar -Wsign-compare -Wundef
    -Wno-format-nonliteral -Wendif-labels -Wstrict-prototypes
    -Wdeclaration-after-statement -Wold-style-definition -Wstrict-aliasing=3
    -Wcast-align -Wtype-limits -Wold-style-declaration -Wmissing-parameter-type
    -Wempty-body -Wclobbered -Wignored-qualifiers -Wconversion
    -Wno-sign-conversion -Wvla -ftree-vrp -Wdouble-promotion -Wformat=2
    -Warray-bounds=2 -Wshift-negative-value -Wshift-overflow=2
    -Wnull-dereference -fdelete-null-pointer-checks -Wduplicated-cond
    -Wunused-const-variable -Wduplicated-branches -Wrestrict -Walloc-zero
    -Wformat-overflow=2 -Wformat-truncation=2 -Warith-conversion
    -Wenum-conversion -Wno-system-headers -Wshorten-64-to-32
    -Wshift-sign-overflow -Wmissing-variable-declarations -Wcomma
    -Wassign-enum -Wextra-semi-stmt'

# FRRouting 8.4: ./configure --enable-gcc-ultra-verbose.
frr='-std=gnu11 -fms-extensions -Wall -Wextra -Wstrict-prototypes
    -Wmissing-prototypes -Wmissing-declarations -Wpointer-arith
    -Wbad-function-cast -Wwrite-strings -Wundef -Wno-unused-result
    -Wno-unused-parameter -Wno-missing-field-initializers -Wcast-qual
    -Wmissing-noreturn -Wmissing-format-attribute -Wunreachable-code -Wpacked
    -Wpadded -Wshadow'

# Tor 0.4: ./configure --enable-gcc-warnings, except those for other languages.
tor='-std=gnu99 -W -Wall -Waddress -Waddress-of-temporary -Waggregate-return
    -Wambiguous-macro -Warray-bounds -Warray-bounds-pointer-arithmetic
    -Wbad-function-cast -Wbitfield-constant-conversion -Wbool-conversion
    -Wbuiltin-requires-header -Wchar-subscripts -Wcomment
    -Wcompare-distinct-pointer-types -Wconditional-type-mismatch
    -Wconstant-conversion -Wconstant-logical-operand -Wdate-time
    -Wdivision-by-zero -Wdollar-in-identifier-extension -Wdouble-promotion
    -Wduplicate-decl-specifier -Wduplicate-enum -Wduplicated-cond
    -Wembedded-directive -Wempty-translation-unit -Wenum-conversion -Wextra
    -Wextra-tokens -Wflexible-array-extensions -Wfloat-conversion -Wfloat-equal
    -Wformat-non-iso -Wformat=2 -Wfour-char-constants -Wgcc-compat
    -Wgnu-designator -Wheader-guard -Wignored-attributes -Wimplicit-fallthrough
    -Wincompatible-pointer-types-discards-qualifiers -Winit-self
    -Wint-conversions -Wint-to-void-pointer-cast -Winteger-overflow
    -Wliteral-conversion -Wliteral-range -Wlogical-op -Wloop-analysis
    -Wmissing-declarations -Wmissing-field-initializers
    -Wmissing-format-attribute -Wmissing-noreturn -Wmissing-prototypes
    -Wmissing-variable-declarations -Wnested-anon-types -Wnested-externs
    -Wnewline-eof -Wnon-literal-null-conversion -Wnormalized=nfkc
    -Wnull-arithmetic -Wnull-conversion -Wnull-dereference
    -Wold-style-definition -Wover-aligned -Woverlength-strings -Woverride-init
    -Wpacked -Wpointer-arith -Wpointer-type-mismatch -Wredundant-decls
    -Wreturn-stack-address -Wsection -Wsentinel -Wshadow -Wshift-count-negative
    -Wshift-count-overflow -Wshift-negative-value -Wshift-overflow=2
    -Wshift-sign-overflow -Wshorten-64-to-32 -Wsizeof-array-argument
    -Wstatic-in-inline -Wstatic-local-in-inline -Wstrict-overflow=1
    -Wstrict-prototypes -Wstring-compare -Wstring-conversion
    -Wsuggest-attribute=format -Wsuggest-attribute=noreturn -Wswitch-bool
    -Wswitch-enum -Wsync-nand -Wtautological-constant-out-of-range-compare
    -Wtentative-definition-incomplete-type -Wtrampolines -Wtypedef-redefinition
    -Wundef -Wundefined-inline -Wundefined-internal -Wunused
    -Wunused-but-set-parameter -Wunused-but-set-variable
    -Wunused-const-variable=2 -Wunused-local-typedefs -Wunused-parameter
    -Wvariadic-macros -Wwrite-strings'

# Further warnings that hosts have asked for.
more='-std=c99 -Wall -Wextra -Wdeclaration-after-statement -Winline -Wshadow
    -Wpadded -Wcast-qual -Wconversion'
more_cxx='-std=c++11 -Wall -Wextra -Winline -Wshadow -Wpadded -Wcast-qual
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

# host NAME COMPILER FLAG...: the ways to include the header in a host.
host() {
    name=$1 compiler=$2
    shift 2
    # shellcheck disable=SC2046
    set -- $(knows "$compiler" "$@")
    expect "$compiler, $# warnings of $name" compiles "$compiler" \
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
        host more $compiler $more_cxx
        ;;
    *)
        language=c standard=c11
        host curl $compiler $curl
        host FRRouting $compiler $frr
        host Tor $compiler $tor
        host more $compiler $more
        ;;
    esac
    for kind in TYPES VARIABLES FUNCTIONS; do
        expect "$compiler, a host with global $kind of common names" \
            compiles $compiler host_names -std=$standard -Wall -Wextra \
            -Wshadow -DHOST_$kind
    done
done
tap_end
