#!/bin/sh
# library.sh - the header inside libraries: each way that the manual names to
# embed it is built and run, as archives and as shared libraries, and two
# versions in one program do not link. Prints TAP. Run from the top of the
# repository. CC chooses the compiler.
#
# SPDX-License-Identifier: MIT
set -u
build=.build/library
. test/lib/tap.sh
rm -rf "$build"
mkdir -p "$build/next"
cc=${CC:-cc}

# A later version: other numbers, and a longer timingwheel.
sed -e 's/^\(#define TW_VERSION_MINOR\) .*/\1 99/' \
    -e 's/^\(#define tw_init\) .*/\1 tw_init_2_99_0/' \
    -e 's/^\(#define TIMINGWHEEL_H\) .*/\1 29900/' \
    -e 's/\(TIMINGWHEEL_H + 0 !=\) .*/\1 29900/' \
    -e 's/^    const char \*called;.*/&\n    char longer[56];/' \
    timingwheel.h >"$build/next/timingwheel.h"

# source_of NAME LINES: a library whose TW_MALLOC counts into NAME_allocations.
# LINES stand before its include of the header.
source_of() {
    name=$1
    cat >"$build/$name.h" <<END
#define TW_TYPES_ONLY
#include "timingwheel.h"
#undef TW_TYPES_ONLY
struct $name { timingwheel timers; tw_timer timer; };
int ${name}_run(struct $name *object);
extern int ${name}_allocations;
END
    cat >"$build/$name-use.c" <<END
$2
#include "timingwheel.h"
#include "$name.h"
static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw, (void)timer;
}
int ${name}_run(struct $name *object)
{
    tw_init(&object->timers, NULL);
    tw_timer_init(&object->timer, on_timer);
    tw_start(&object->timers, &object->timer, 5);
    int fired = (int)tw_advance_clock(&object->timers, 5);
    tw_destroy(&object->timers);
    return fired;
}
END
    cat >"$build/$name-own.c" <<END
#include <stdlib.h>
int ${name}_allocations;
#define TW_MALLOC(size, context) \\
    ((void)(context), ${name}_allocations++, malloc(size))
#define TW_FREE(pointer, context) ((void)(context), free(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
END
}

# objects NAME FOLDER COUNT: compiles the library with the header of FOLDER, as
# one object, or as two, of which one is the implementation.
objects() {
    if [ "$3" = 1 ]; then
        cat "$build/$1-own.c" "$build/$1-use.c" >"$build/$1-all.c"
        set -- "$1" "$2" "$1-all.c"
    else
        echo '#include "timingwheel.h"' >>"$build/$1-own.c"
        (echo "$hidden"; cat "$build/$1-own.c") >"$build/$1-impl.c"
        set -- "$1" "$2" "$1-use.c" "$1-impl.c"
    fi
    name=$1 folder=$2
    shift 2
    for source; do
        $cc -std=c99 -fPIC -Wall -Wextra -Werror -I"$folder" -I"$build" \
            -c -o "$build/${source%.c}.o" "$build/$source" || return
    done
    rm -f "$build/lib$name.a"
    # shellcheck disable=SC2046
    set -- $(printf "$build/%s.o " $(printf '%s\n' "$@" | sed 's/\.c$//'))
    ar rc "$build/lib$name.a" "$@" &&
        $cc -shared -o "$build/lib$name.so" "$@"
}

cat >"$build/main.c" <<'END'
#include "a.h"
#include "b.h"
#include "timingwheel.h" /* the user's own include still declares functions */
#include <stdio.h>
int main(void)
{
    struct a a;
    struct b b;
    int fired = a_run(&a) + b_run(&b);
    printf("%d fired, %d and %d allocations, %d\n", fired, a_allocations,
           b_allocations, (int)tw_after(1, 2));
    return 0;
}
END

# program KIND: both libraries in one program, with its own implementation.
program() {
    echo '#define TIMINGWHEEL_IMPLEMENTATION' >"$build/user.c"
    echo '#include "timingwheel.h"' >>"$build/user.c"
    libraries="$build/liba.$1 $build/libb.$1"
    # shellcheck disable=SC2086
    $cc -std=c99 -I. -I"$build" -o "$build/main" "$build/main.c" \
        "$build/user.c" $libraries -Wl,-rpath,"$PWD/$build" || return
    "$build/main" | tee "$build/main.said"
    [ "$(cat "$build/main.said")" = '2 fired, 1 and 1 allocations, 3' ]
}

hidden='#define TW_DEF extern __attribute__((visibility("hidden")))'
each_its_own() {
    source_of a "$1" && source_of b "$1" && objects a . "$2" &&
        objects b . "$2"
}
expect 'two libraries with TW_STATIC compile' \
    each_its_own '#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION' 1
expect 'with TW_STATIC, as archives, each has its TW_MALLOC' program a
expect 'with TW_STATIC, as shared libraries, each has its TW_MALLOC' program so
expect 'two libraries with a hidden TW_DEF compile' each_its_own "$hidden" 2
expect 'with a hidden TW_DEF, as shared libraries, each has its TW_MALLOC' \
    program so

# Each file has functions of its own, and all share a timingwheel.
static_files() {
    printf '%s\n' '#define TW_STATIC' '#define TIMINGWHEEL_IMPLEMENTATION' \
        '#include "timingwheel.h"' 'void begin(timingwheel *, tw_timer *);' \
        >"$build/static.h"
    printf '%s\n' '#include "static.h"' \
        'void begin(timingwheel *tw, tw_timer *timer)' \
        '{ tw_init(tw, NULL); tw_start(tw, timer, 5); }' >"$build/one.c"
    printf '%s\n' '#include "static.h"' 'int main(void)' \
        '{ static timingwheel tw; static tw_timer timer; begin(&tw, &timer);' \
        'return !(tw_count(&tw) == 1 && tw_poll(&tw, 5) == &timer); }' \
        >"$build/other.c"
    $cc -std=c99 -Wall -Wextra -Werror -I. -I"$build" -o "$build/static" \
        "$build/one.c" "$build/other.c" && "$build/static"
}
expect 'with TW_STATIC, two files share a timingwheel' static_files

# Two archives with an implementation object each: of one version they link, of
# two they do not.
links() {
    hidden=''
    printf '%s\n' '#include "a.h"' '#include "b.h"' \
        'static struct a a; static struct b b;' \
        'int main(void) { return a_run(&a) + b_run(&b) - 2; }' >"$build/two.c"
    source_of a '' && source_of b '' && objects a . 2 && objects b "$1" 2 &&
        $cc -std=c99 -I. -I"$build" -o "$build/two" "$build/two.c" \
            "$build/liba.a" "$build/libb.a" && "$build/two"
}
two_versions_fail() {
    ! links "$build/next" >"$build/link" 2>&1 || return
    grep -q 'multiple definition\|duplicate symbol\|tw_init_2_99_0' \
        "$build/link"
}
expect 'two archives of one version link' links .
expect 'two archives of two versions do not link' two_versions_fail

both() {
    printf '#include "../../timingwheel.h"\n#include "next/timingwheel.h"\n' \
        >"$build/both.c"
    ! $cc -c -o "$build/both.o" "$build/both.c" >"$build/said" 2>&1 &&
        grep -q 'two versions of timingwheel.h' "$build/said"
}
expect 'a file that includes two versions is an error' both

shadowed() {
    printf '%s\n' '#define TIMINGWHEEL_IMPLEMENTATION' \
        '#include "timingwheel.h"' \
        'int after(int x) { int y = x; { int x = y; return x; } }' \
        >"$build/shadow.c"
    $cc -std=c99 -I. -Wshadow -c -o "$build/shadow.o" "$build/shadow.c" 2>&1 |
        grep -q Wshadow
}
expect 'behind the header, the compiler warns again' shadowed
tap_end
