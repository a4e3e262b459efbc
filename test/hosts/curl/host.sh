# host.sh - curl 7.88: timers.c and multi.sed replace the splay tree of the
# multi handles.
#
# curl is built twice in one folder, with the debugging code that its unit tests
# and its torture mode need. The benchmark has a libcurl of its own, optimised
# and without debugging code.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2086,SC2154

package=curl
version='curl-7.88.*'
programs='gcc make perl'

# Tests of multi handles, time-outs, retries, slow servers and unit tests.
curl_tests='19 29 190 197 357 366 390 500 502 503 504 507 525 526 527 530 533
535 564 585 704 1129 1130 1131 1206 1233 1238 1303 1309 1323 1399 1500 1501
1502 1505 1506 1507 1508 1515 1550 1551 1554 1557 1564 1565'

# -e: the curl program waits with curl_multi_socket_action.
# -t, torture mode: the test runs once for each allocation, which fails.
curl_events='1 29 100 190 197 357 1129 1130 1233'
curl_torture='1 500 502 504 530 1500 1506 1557'

export USER="${USER:-$(id -un)}" # or curl's tests end at the first SSH test

# Two headers of libcurl get the wheel's types: a tw_timer in each easy handle,
# a timingwheel in each multi handle.
place() {
    cp "$top/timingwheel.h" "$adapter/timers.c" "$source/lib" &&
        sed -i -f "$adapter/multi.sed" "$source/lib/multi.c" &&
        sed -i -f "$adapter/types.sed" "$source/lib/urldata.h" \
            "$source/lib/multihandle.h"
}

# No protocol that needs another library. The threaded resolver would end the
# torture mode. lib/multi.c is compiled as C99, which the wheel needs.
configure_in() { # FOLDER OPTION...
    mkdir -p "$1"
    (
        cd "$1" && shift && "$source/configure" -q --disable-shared \
            --disable-threaded-resolver --disable-manual --disable-ldap \
            --disable-ntlm --without-ssl --without-zlib --without-brotli \
            --without-zstd --without-libpsl --without-libidn2 \
            --without-nghttp2 --without-librtmp --without-libgsasl "$@" &&
            sed -i -e '/^libcurlu*_la-multi.lo: multi.c/i\
libcurl_la-multi.lo libcurlu_la-multi.lo: CFLAGS += -std=gnu99' lib/Makefile
    )
}

configure() {
    configure_in "$build/work" --enable-debug &&
        { [ "$mode" = --tests ] || configure_in "$build/fast"; }
}

# Print the programs that the tests run.
lib_programs() {
    for test in $curl_tests $curl_torture; do
        sed -n '/<tool>/,/<\/tool>/p' "$source/tests/data/test$test" |
            sed "s/%TESTNUMBER/$test/" | grep -o 'lib[0-9][0-9]*'
    done | sort -u
}

unit_programs() {
    for test in $curl_tests; do
        grep -q '^unittest$' "$source/tests/data/test$test" &&
            echo "unit$test"
    done
}

make_in() { # FOLDER TARGET...
    curl_folder=$1
    shift
    make -s -j2 CHECKSRC="true " -C "$build/$curl_folder" "$@"
}

make_tools() {
    if [ "$mode" = --all ]; then
        make_in work/tests/libtest all && make_in work/tests/unit all
        return
    fi
    # shellcheck disable=SC2046
    make_in work/tests/libtest chkhostname chkdecimalpoint $(lib_programs) &&
        make_in work/tests/unit $(unit_programs)
}

# Compiles a program of ours with libcurl's private headers.
make_own() { # PROGRAM FOLDER LIBRARY: work or fast
    gcc -std=gnu99 -O2 $warnings -DHAVE_CONFIG_H -DBUILDING_LIBCURL \
        -DCURL_STATICLIB -isystem "$build/$3/lib" -isystem "$source/lib" \
        -isystem "$source/include" -o "$build/$2/$1" "$adapter/$1.c" \
        "$build/$3/lib/.libs/libcurl.a"
}

make_programs() { # FOLDER
    make_in work/lib libcurl.la libcurlu.la &&
        make_in work/src curl libcurltool.la &&
        make_in work/tests/server all && make_tools &&
        cp -a "$build/work" "$build/$1/curl" && make_own exact "$1" work ||
        return
    [ "$mode" = --tests ] ||
        { make_in fast/lib libcurl.la && make_own cost "$1" fast; }
}

# runtests FOLDER OPTION... TEST...: curl's own script. -am prints a line
# "PASS: number - name" for each test. Servers and clients use the loopback
# interface.
runtests() {
    curl_folder=$build/$1/curl/tests
    shift
    (
        cd "$curl_folder" && srcdir=$source/tests timeout 7200 \
            perl -I"$source/tests" "$source/tests/runtests.pl" -a -am -n "$@"
    )
}

# Runs many tests at once, which saves the start of servers for each test.
# Results stay in $build/FOLDER/results.
run_all_at_once() { # FOLDER
    if [ "$mode" = --all ]; then
        runtests "$1" '!flaky'
    else
        runtests "$1" $curl_tests
    fi >"$build/$1/results" 2>&1
    runtests "$1" -e $curl_events 2>&1 |
        sed 's/^PASS: /PASS: -e /' >>"$build/$1/results"
}

# With --all, prints the tests that this build of curl can run.
list_tests() {
    if [ "$mode" = --all ]; then
        run_all_at_once before
        sed -n 's/^\(PASS\|FAIL\): \([0-9]*\) .*/\2/p' "$build/before/results"
    else
        printf '%s\n' $curl_tests
    fi
    printf -- '-e %s\n' $curl_events
    [ "$mode" = --tests ] || printf -- '-t %s\n' $curl_torture
}

# A test that failed among all others runs again alone.
run_test() { # FOLDER NAME
    [ -e "$build/$1/results" ] || run_all_at_once "$1"
    grep -q "^PASS: $2 " "$build/$1/results" && return
    runtests "$1" $2 >"$build/alone" 2>&1
    grep -a -v '^Killed\|^\*' "$build/alone"
    grep -q '^TESTDONE: 1 tests out of 1' "$build/alone"
}

more_tests() {
    expect 'curl: the unchanged timers behave like the model' \
        "$build/before/exact"
    expect 'curl: the timers of the wheel behave like the model' \
        "$build/after/exact"
}

measure() { # FOLDER
    "$build/$1/cost" 1000 100000
}

bench() {
    expect 'curl: the benchmark runs' compare_medians 5 measure
}
