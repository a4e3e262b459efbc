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
mkdir -p "$build/now" "$build/next" "$build/old"
cc=${CC:-cc}

# Three versions, each in a folder. `next` has other numbers, and a longer
# timingwheel. `old` is what a linker sees of an implementation before 2.3.0:
# the names of functions.
version=$(sed -n 's/^#define TWI_VERSION //p' timingwheel.h)
cp timingwheel.h "$build/now"
sed -e 's/^\(#define TW_VERSION_MINOR\) .*/\1 99/' \
    -e 's/^\(#define TWI_VERSION\) .*/\1 timingwheel_h_2_99_0/' \
    -e 's/^\(#define TIMINGWHEEL_H\) .*/\1 29900/' \
    -e 's/\(TIMINGWHEEL_H + 0 !=\) .*/\1 29900/' \
    -e 's/^    const char \*called;.*/&\n    char longer[56];/' \
    timingwheel.h >"$build/next/timingwheel.h"
for folder in now next; do
    printf '#define TIMINGWHEEL_IMPLEMENTATION\n#include "timingwheel.h"\n' \
        >"$build/$folder/all.c"
done
functions=$(grep -v typedef test/compile/interface.txt |
    sed -n 's/^[0-9].*[ *]\(tw_[a-z_]*\)(.*/\1/p')
c_linkage='#ifdef __cplusplus\nextern "C"\n#endif\n'
# shellcheck disable=SC2059,SC2086
printf "${c_linkage}void %s(void) {}\n" $functions tw_init_2_2_0 \
    >"$build/old/all.c"

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
expect 'interface.txt lists the functions' test "$functions"
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

# lacks FLAG...: functions of a shared library whose names nm does not show.
lacks() {
    $cc -shared -fPIC -DTIMINGWHEEL_THREADS -o "$build/libtw.so" \
        "$build/now/all.c" && nm "$@" "$build/libtw.so" >"$build/nm"
    for name in $functions "$version"; do
        grep " T $name\$" "$build/nm" >"$build/found" || echo "$name"
    done
}
expect_nothing 'nm shows the names of the source' lacks
expect_nothing 'dlsym finds the names of the source' lacks --dynamic

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
    printf '#include "timingwheel.h"\nint main(void) { return 0; }\n' \
        >"$build/now/alone.c"
    $cc "$@" -o "$build/alone" "$build/now/alone.c"
}
expect 'a file of this version alone is refused' refused "$version" links_alone
expect 'a file with types only refers to nothing' links_alone -DTW_TYPES_ONLY
expect 'a file with TW_STATIC refers to nothing' links_alone -DTW_STATIC

# ---------------------------------------------------------------- versions ---

# Whatever function a file refers to, an older implementation is refused.
each_function() {
    $cc -c -o "$build/old.o" "$build/old/all.c" || return
    for name in $functions; do
        # shellcheck disable=SC2086
        refused "$version" $cc -DTIMINGWHEEL_THREADS -DCALLED="$name" \
            -o "$build/caller" test/compile/caller.c "$build/old.o" || return
    done
}
expect 'an older implementation is refused, whatever a file calls' each_function

# one_version SAYS COMPILER FLAG...: `next` is refused with the text SAYS.
one_version() {
    says=$1
    shift
    set -- "$@" -w -DCALLED=tw_start -o "$build/caller" test/compile/caller.c
    "$@" "$build/now/all.c" && refused "$says" "$@" "$build/next/all.c" &&
        refused "$version" "$@" "$build/old/all.c"
}

# What the linker says, the compiler and its flags.
own="undefined.*$version"
both="timingwheel_h_2_99_0.*multiple.*timingwheel_h_in_two_versions.*$version"
while read -r says compiler flags; do
    case $says in own) says=$own ;; both) says=$both ;; esac
    title="one version, $compiler $flags"
    if have "$compiler"; then
        # shellcheck disable=SC2086
        expect "$title" one_version "$says" $compiler $flags
    else
        skip "$title" "$compiler is missing"
    fi
done <<'END'
both gcc -Os
both g++ -x c++
both gcc -Os -ffunction-sections -fdata-sections -Wl,--gc-sections
both gcc -static -s
timingwheel_h_in_two_versions gcc -Os -flto
timingwheel_h_in_two_versions gcc -Os -flto -Wl,--gc-sections
own clang -Os -ffunction-sections -Wl,--gc-sections
own clang++ -x c++
own clang -flto
own clang -fuse-ld=lld -Wl,--gc-sections
own tcc
own avr-gcc -mmcu=atmega2560 -Os
both arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb --specs=nosys.specs
own x86_64-w64-mingw32-gcc
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
