#!/bin/sh
# hosts.sh - libraries and programs that people run, with their timers on
# timingwheel.h: the host's own tests. nginx has none, and gets tests of ours.
# Prints TAP; run from the top of the repository.
#
#     test/hosts/hosts.sh [HOST...]          the host's tests of timers
#     test/hosts/hosts.sh --all [HOST...]    every test of libuv and libevent
#
# Each host is built from Debian's source package (get-sources.sh), in one
# folder and twice: first unchanged, then with the adapter in HOST/, and with
# HOST.patch or HOST.sed if the host itself changes. The programs are in
# .build/hosts/HOST/before and .../after. A second run builds only what has
# changed; `make clean` removes everything. JOBS=8 lets make compile eight files
# at a time, instead of two.
#
# At the end, redis and nginx are built with mistakes planted into
# timingwheel.h, and a test must fail.
#
# A test has three attempts, because a busy machine disturbs tests in real time.
# A test that fails with the adapter also runs in the unchanged host. A test
# that fails in both counts as skipped: some tests need a network, and some
# refuse root.
#
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2046,SC2086,SC2154
set -u

mode=
if [ "${1:-}" = --all ]; then
    mode=$1
    shift
fi
wanted_hosts=${*:-libuv libevent redis nginx}
unset MAKEFLAGS MAKELEVEL MFLAGS

top=$PWD
hosts=$top/.build/hosts
build=$hosts # where tap.sh keeps the output of a command
mkdir -p "$hosts"
# shellcheck disable=SC1091
. test/lib/tap.sh

# Sets the host's package, the pattern of the source's folder, the folder of the
# adapter in the source, and the tools; and a second in units of the adapter, if
# mistakes are planted.
describe() {
    case $host in
    libuv) package=libuv1 version='libuv1-1.44.*' folder=src tools=cmake ;;
    libevent) package=libevent version='libevent-2.1.12-*' folder=. \
        tools=cmake ;;
    redis) package=redis version=redis-7.0.15 folder=src tools=tclsh \
        second=1000000 ;;
    nginx) package=nginx version=nginx-1.22.1 folder=src/event tools=python3 \
        second=1000 ;;
    esac
}

make_target() { # TARGET
    make -s -j${JOBS:-2} -C "$build/built" "$1"
}

# ------------------------------------------------------------------ libuv ---

export UV_RUN_AS_ROOT=1 # or libuv's tests refuse root

libuv_configure() {
    sed -i 's/CMAKE_C_STANDARD 90/CMAKE_C_STANDARD 99/' \
        "$source/CMakeLists.txt" &&
        cmake -S "$source" -B "$build/built" -DCMAKE_BUILD_TYPE=None \
            -DCMAKE_C_FLAGS=-O1
}

libuv_make() { # FOLDER
    make_target uv_run_tests_a &&
        cp "$build/built/uv_run_tests_a" "$build/$1"
}

libuv_list() {
    wanted=timer
    [ "$mode" != --all ] || wanted=.
    "$build/before/uv_run_tests_a" --list | awk '{ print $1 }' | grep "$wanted"
}

libuv_run() { # FOLDER NAME: some tests read files beside the source
    (cd "$source" && timeout 120 "$build/$1/uv_run_tests_a" "$2")
}

# --------------------------------------------------------------- libevent ---

libevent_configure() {
    cmake -S "$source" -B "$build/built" -DEVENT__LIBRARY_TYPE=STATIC \
        -DEVENT__DISABLE_OPENSSL=ON -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS=-O1
}

libevent_make() { # FOLDER
    make_target regress && cp "$build/built/bin/regress" "$build/$1"
}

libevent_list() {
    "$build/before/regress" --list-tests | grep -v 'Off by default' |
        grep -o '[a-zA-Z]*/[a-zA-Z0-9_]*$' |
        if [ "$mode" = --all ]; then
            cat
        else
            grep 'heap/\|time\|active_\(by\|later\)\|/event_\|many_ev\|loopexit'
        fi
}

libevent_run() { # FOLDER NAME
    (cd "$build/$1" && timeout 120 ./regress "$2")
}

# ------------------------------------------------------------------ redis ---

redis_configure() {
    :
}

redis_make() { # FOLDER
    make -s -j${JOBS:-2} -C "$source/src" MALLOC=libc OPTIMIZATION=-O1 DEBUG= \
        USE_SYSTEMD=no redis-server redis-cli || return
    make -s -C "$source/tests/modules" timer.so blockedclient.so || return
    cp "$source"/src/redis-server "$source"/src/redis-cli "$build/$1" &&
        (cd "$source/src" && gcc -O1 -I. -o "$build/$1/loop" "$adapter/loop.c" \
            ae.o anet.o monotonic.o redisassert.o zmalloc.o)
}

redis_list() { # loop is ours
    printf '%s\n' loop unit/expire unit/other unit/introspection \
        unit/maxmemory unit/type/list unit/moduleapi/timer \
        unit/moduleapi/blockedclient
}

redis_run() { # FOLDER NAME
    case $2 in
    loop) "$build/$1/loop" ;;
    *) (cd "$source" && cp --remove-destination "$build/$1/redis-server" src &&
        timeout 300 ./runtest --clients 1 --single "$2") ;;
    esac
}

# ------------------------------------------------------------------ nginx ---

nginx_configure() { # without what the tests do not use
    (cd "$source" && ./configure --builddir="$build/built" \
        --with-cc-opt=-O1 --without-http-cache $(./configure --help |
        sed -n 's/^ *\(--without-http_[a-z_]*module\).*/\1/p' |
        grep -v 'proxy\|limit_req\|upstream_keepalive'))
}

nginx_make() { # FOLDER
    touch "$source/src/event/ngx_event_timer.c" # make does not see our header
    make -s -j${JOBS:-2} -C "$source" build &&
        cp "$build/built/nginx" "$build/$1"
}

nginx_list() {
    python3 "$adapter/timers.py"
}

nginx_run() { # FOLDER NAME: after beside before
    timeout 60 python3 "$adapter/timers.py" "$2" "$build/$1/nginx" \
        $([ "$1" != after ] || echo "$build/before/nginx")
}

# -------------------------------------------------------------- every host ---

# Copies the header and the adapter, if they have changed. The first time, also
# patches the source.
place() { # HEADER
    for file in "$1" "$adapter"/*.[ch]; do
        copy=$source/$folder/$(basename "$file")
        cmp -s "$file" "$copy" || cp "$file" "$copy" || return
    done
    if [ -e "$build/patched" ]; then
        return
    elif [ -e "$adapter/$host.patch" ]; then
        patch -d "$source" -p1 <"$adapter/$host.patch" || return
    elif [ -e "$adapter/$host.sed" ]; then
        sed -i -f "$adapter/$host.sed" "$source/$folder/ae.c" || return
    fi
    touch "$build/patched"
}

build_with() { # FOLDER HEADER
    rm -rf "${build:?}/$1" && mkdir "$build/$1" && place "$2" &&
        "${host}_make" "$1"
}

build_both() {
    if ! [ -e "$ready" ]; then
        mkdir -p "$build/before" "$build/built" && ("${host}_configure") &&
            "${host}_make" before && touch "$ready" || return
    fi
    build_with after "$top/timingwheel.h"
}

attempt() { # FOLDER NAME
    for _ in 1 2 3; do
        "${host}_run" "$1" "$2" >"$build/said" 2>&1 </dev/null && return
    done
    return 1
}

# Runs every test of the host.
run_tests() {
    passed=0
    "${host}_list" >"$build/tests"
    while read -r name; do
        if attempt after "$name"; then
            passed=$((passed + 1))
            pass "$host: its test $name"
        elif cp "$build/said" "$build/why" && attempt before "$name"; then
            fail "$host: its test $name" "$build/why"
        else
            STRICT='' skip "$host: its test $name" 'fails without us as well'
        fi
    done <"$build/tests"
    [ "$passed" != 0 ] || fail "$host: a test passes"
}

# Writes a header with a mistake: a cancel takes out the next timer of the
# bucket, too, or every deadline is a second late.
plant() { # MISTAKE
    case $1 in
    *cancel) sed 's/^    twi_remove(tw, timer, TW_CANCELLED);/\
    tw_timer *next = twi_timer_of(timer->link.next);\
    if (next->state == TW_PENDING) {\
        twi_unlink(tw, \&next->link);\
        next->link.next = next->link.prev = \&next->link;\
    }\
&/' ;;
    *late) sed "/^    return twi_[a-z]*(tw, timer, / \
        s/);\$/ + $second&/" ;;
    esac <"$top/timingwheel.h" >"$build/timingwheel.h"
    ! cmp -s "$top/timingwheel.h" "$build/timingwheel.h"
}

# True if no test fails.
finds_nothing() {
    while read -r name; do
        "${host}_run" planted "$name" >"$build/said" 2>&1 </dev/null || return
    done <"$build/tests"
}

run_planted() {
    for mistake in 'a timer lost on cancel' 'a deadline a second late'; do
        title="$host: with $mistake"
        if ! plant "$mistake"; then
            fail "$title: the mistake finds its line"
        elif ! build_with planted "$build/timingwheel.h" \
            >"$hosts/said" 2>&1; then
            fail "$title: compiles" "$hosts/said"
        elif finds_nothing; then
            fail "$title, a test fails"
        else
            pass "$title, $name fails"
        fi
    done
}

# Prints the programs that are missing.
missing() {
    for program in gcc patch $tools; do
        have "$program" || echo "$program is missing"
    done
}

# Unpacks the source, unless the unchanged host is built already.
get_source() {
    ready=$build/before/ready
    [ -e "$ready" ] || {
        rm -rf "$build"
        test/hosts/get-sources.sh "$build/source" "$package" \
            >"$hosts/$host.log" 2>&1 || return
    }
    for source in "$build/source"/$version; do :; done
}

run_host() {
    title="$host with its timers on timingwheel.h"
    lacks=$(missing | head -n 1)
    if [ -n "$lacks" ]; then
        skip "$title" "$lacks"
    elif ! get_source; then
        tail -n 5 "$hosts/$host.log" | sed 's/^/# /'
        skip "$title" 'the source package cannot be had'
    elif ! [ -d "$source" ]; then
        skip "$title" "this Debian has another version than $version"
    elif ! build_both >"$hosts/$host.log" 2>&1; then
        tail -n 25 "$hosts/$host.log" >"$hosts/said"
        fail "$title: compiles" "$hosts/said"
    else
        run_tests
        [ -z "$second" ] || run_planted
    fi
}

for host in $wanted_hosts; do
    build=$hosts/$host adapter=$top/test/hosts/$host second=
    describe
    run_host
done
tap_end
