#!/bin/sh
# library.sh - the header inside libraries: each way that the manual names to
# embed it is built and run, as archives and as shared libraries; names in
# object files are those of the source; files of two versions do not link.
# Prints TAP. Run from the top of the repository. CC chooses the compiler. A
# case without its compiler is skipped with a warning.
#
# SPDX-License-Identifier: MIT
set -u
build=.build/library
. test/lib/tap.sh
rm -rf "$build"
mkdir -p "$build/now" "$build/next"
cc=${CC:-cc}

# Two versions, each in a folder. `next` has another number, and a longer
# timingwheel.
cp timingwheel.h "$build/now"
sed -e 's/^\(#define TW_VERSION_MINOR\) .*/\1 99/' \
    -e 's/^\(#define TW_VERSION_PATCH\) .*/\1 0/' \
    -e 's/\(TIMINGWHEEL_H !=\) [0-9]*/\1 29900/' \
    -e 's/^    const char \*called;.*/&\n    char longer[56];/' \
    timingwheel.h >"$build/next/timingwheel.h"
for folder in now next; do
    printf '#define TIMINGWHEEL_IMPLEMENTATION\n#include "timingwheel.h"\n' \
        >"$build/$folder/all.c"
done
printf '#include "timingwheel.h"\nint main(void) { return 0; }\n' \
    >"$build/now/alone.c"
version=$(echo TWI_VERSION | cat "$build/now/all.c" - |
    $cc -E -P -I"$build/now" -x c - | tail -n 1)

# library NAME FOLDER FLAG...: library.c with the header of the folder, as an
# archive and as a shared library, of one object (with -DUSES) or of two.
library() {
    name=$1 folder=$2
    shift 2
    rm -f "$build/$name"-*.o "$build/lib$name.a"
    case $* in
    *-DUSES*) object_of whole "$@" ;;
    *) object_of uses -DUSES "$@" && object_of own -DIMPLEMENTS "$@" ;;
    esac && ar rc "$build/lib$name.a" "$build/$name"-*.o &&
        $cc -shared -o "$build/lib$name.so" "$build/$name"-*.o
}
object_of() {
    object=$build/$name-$1.o
    shift
    $cc -std=c99 -fPIC -Wall -Wextra -Werror "-I$build/$folder" "-DNAME=$name" \
        "$@" -c -o "$object" test/compile/library.c
}

# embeds KIND VERSION FLAG...: libraries a, and b of the version, in a program
# with an implementation of its own.
embeds() {
    kind=$1 b=$2
    shift 2
    library a now "$@" && library b "$b" "$@" &&
        $cc -std=c99 -o "$build/main" test/compile/libraries.c \
            "$build/now/all.c" "$build/liba.$kind" "$build/libb.$kind" \
            "-Wl,-rpath,$PWD/$build" && "$build/main"
}
static='-DTW_STATIC -DUSES -DIMPLEMENTS'
hidden='-DTW_DEF=extern __attribute__((visibility("hidden")))'
for b in now next; do
    # shellcheck disable=SC2086
    expect "archives with TW_STATIC, versions now and $b" embeds a $b $static
    # shellcheck disable=SC2086
    expect "shared libraries with TW_STATIC, now and $b" embeds so $b $static
    expect "shared libraries, hidden TW_DEF, now and $b" embeds so $b "$hidden"
done
shown() {
    nm --dynamic "$build/liba.so" >"$build/nm"
    grep -q ' T a_run$' "$build/nm" || echo 'a_run is missing'
    grep 'tw_\|timingwheel' "$build/nm" || :
}
expect_nothing 'a shared library shows no name with a hidden TW_DEF' shown

# ------------------------------------------------------------------- names ---

names() {
    $cc -shared -fPIC -o "$build/libtw.so" "$build/now/all.c" &&
        nm --dynamic "$build/libtw.so" >"$build/nm" &&
        grep ' T tw_init$' "$build/nm" && grep " T $version\$" "$build/nm"
}
expect 'nm and dlsym find the names of the source' names

# refused NAME COMMAND...: fails, and says the name.
refused() {
    name=$1
    shift
    if "$@" >"$build/refused" 2>&1; then
        echo "links with another version: $*"
        return 1
    fi
    cat "$build/refused" && grep -q "$name" "$build/refused"
}

# links_alone FLAG...: a file that sees the header, without an implementation.
links_alone() {
    $cc "$@" -o "$build/alone" "$build/now/alone.c"
}
expect 'a file of this version alone is refused' refused "$version" links_alone
expect 'a file with types only refers to nothing' links_alone -DTW_TYPES_ONLY
expect 'a file with TW_STATIC refers to nothing' links_alone -DTW_STATIC

# ---------------------------------------------------------------- versions ---

# one_version COMPILER FLAG...: files of `now` and `next` do not link.
one_version() {
    set -- "$@" -w -o "$build/alone" "$build/now/alone.c"
    "$@" "$build/now/all.c" &&
        refused "undefined.*$version" "$@" "$build/next/all.c"
}

while read -r compiler flags; do
    title="one version, $compiler $flags"
    if have "$compiler"; then
        # shellcheck disable=SC2086
        expect "$title" one_version $compiler $flags
    else
        skip "$title" "$compiler is missing"
    fi
done <<'END'
gcc -Os
g++ -x c++
gcc -Os -ffunction-sections -fdata-sections -Wl,--gc-sections
gcc -static -s
gcc -Os -flto -Wl,--gc-sections
clang -Os -ffunction-sections -Wl,--gc-sections
clang++ -x c++
clang -flto
clang -fuse-ld=lld -Wl,--gc-sections
tcc
avr-gcc -mmcu=atmega2560 -Os
arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb --specs=nosys.specs
x86_64-w64-mingw32-gcc
END

both() {
    printf '#include "now/timingwheel.h"\n#include "next/timingwheel.h"\n' \
        >"$build/both.c"
    # shellcheck disable=SC2086
    refused 'two versions of timingwheel.h' $cc -c -o "$build/both.o" \
        "$build/both.c"
}
expect 'a file that includes two versions is an error' both

shadowed() {
    echo 'int after(int x) { int y = x; { int x = y; return x; } }' |
        cat "$build/now/all.c" - >"$build/now/shadow.c"
    $cc -std=c99 -Wshadow -c -o "$build/shadow.o" "$build/now/shadow.c" 2>&1 |
        grep -q Wshadow
}
expect 'behind the header, the compiler warns again' shadowed
tap_end
