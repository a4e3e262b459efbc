#!/bin/sh
# variant.sh - compiles every test program in another way, and runs each
# program. The slow programs run fewer operations than in `make test`. Prints
# TAP: a program is one case, whatever the number of its own cases. Run from the
# top of the repository.
#
#     test/lib/variant.sh KIND [NAME...]       only the programs NAME
#
# SPDX-License-Identifier: MIT
set -u
kind=$1
shift
build=.build/variant/$kind
rm -rf "$build"
mkdir -p "$build"
. test/lib/tap.sh
seed=$(test/lib/seed.sh) || exit 2

checked='-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all'
runner='' operations=300000
# If random.c aborts, the program prints the command that repeats the round.
fatal=abort_on_error=1
export ASAN_OPTIONS=$fatal UBSAN_OPTIONS=$fatal MSAN_OPTIONS=$fatal
case $kind in
asan-gcc)
    set -- gcc "$checked -fsanitize=address,undefined,bounds-strict" "$@"
    ;;
asan-clang) set -- clang "$checked -fsanitize=address,undefined" "$@" ;;
msan) set -- clang "$checked -fsanitize=memory" "$@" ;;
valgrind)
    runner='valgrind -q --error-exitcode=99 --leak-check=full' operations=30000
    have valgrind || runner=false
    set -- gcc '-O2 -g' "$@"
    ;;
m32)
    runner=$(test/lib/runner32.sh) || runner=false
    set -- gcc '-O2 -g -m32 -I/usr/include/x86_64-linux-gnu' "$@"
    ;;
portable) # without the builtins of gcc and clang
    set -- gcc "$checked -fsanitize=undefined -DTWI_PORTABLE" "$@"
    ;;
integer) # no number of the header wraps, except where TWI_WRAPS allows it
    printf 'src:*/%s/*\n' contract internal search cost lib \
        >"$build/wrapping"
    set -- clang "$checked -fsanitize=integer -DTW_DEBUG
        -DTW_ASSERT(expr)=((void)(expr))
        -fsanitize-ignorelist=$build/wrapping" "$@"
    ;;
coverage) # for test/coverage/coverage.sh
    set -- clang-19 '-O1 -fprofile-instr-generate -fcoverage-mapping
        -fcoverage-mcdc -DONE_MAILBOX' "$@"
    ;;
*)
    echo "variant.sh: there is no '$kind'" >&2
    exit 2
    ;;
esac
compiler=$1 flags=$2
shift 2

# runs SOURCE: compiles and runs a program.
# shellcheck disable=SC2086
runs() {
    program=$(basename "${1%.c*}") options=
    [ "$program" != random ] ||
        options="--seed $seed --operations $operations"
    test/lib/compile.sh "$build/$program" "$1" $compiler $flags -w ||
        return
    LLVM_PROFILE_FILE=$build/$program.profraw timeout 900 \
        $runner "$build/$program" $options \
        >"$build/$program.said" 2>&1 && return
    echo "exit status $?; again: SEED=$seed test/lib/variant.sh $kind $program"
    sed -i '/^ok /d; /^Shadow bytes/,/Right alloca/d' "$build/$program.said"
    grep -B 12 '^not ok' "$build/$program.said" ||
        tail -n 24 "$build/$program.said"
    return 1
}

# shellcheck disable=SC2086
if ! $compiler $flags -o "$build/empty" test/compile/empty.c \
    >"$build/said" 2>&1 ||
    ! LLVM_PROFILE_FILE=$build/profile $runner "$build/empty"; then
    skip "every test under $kind" "$runner $compiler does not work here"
    tap_end
    exit
fi
sources=$(test/lib/programs.sh "$@") || exit 2
for source in $sources; do
    case $kind-$source in
    m32-*.cpp) ;; # there is no library of C++ for 32 bits
    msan-*.cpp) ;; # the library of C++ is built without this sanitizer
    *) expect "$source under $kind" runs "$source" ;;
    esac
done
tap_end
