#!/bin/sh
# install.sh - `make install`, `make uninstall`, and the ways in which README.md
# adds the header to a project: its commands and its CMakeLists.txt are run as
# they stand there, on its first program, in C and in C++. Prints TAP. What a
# tool is missing for is skipped, loudly; with STRICT set it fails. Run from the
# top of the repository.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/install
. test/lib/tap.sh

# What a `make test` around this one was given is not for those in here.
unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR PKG_CONFIG_PATH
unset CMAKE_PREFIX_PATH

rm -rf "$build"
mkdir -p "$build"
build=$(cd "$build" && pwd)
version=$(awk '/^#define TW_VERSION_/ { printf "%s%s", dot, $3; dot = "." }' \
    timingwheel.h)

# block LANGUAGE NUMBER: a block of README.md that is fenced so.
block() {
    awk -v fence="^\`\`\`$1\$" -v number="$2" '
        /^```/ { inside = $0 ~ fence && ++seen == number; next }
        inside { print }
    ' README.md
}

# A C++ project differs in its compiler, its file's name and its language.
translate() { # LANGUAGE
    if [ "$1" = cpp ]; then
        sed "s|^cc -std=c99|${CXX:-c++} -std=c++11|; s|main\\.c|main.cpp|g
            s|^\\(project(.*\\) C)|\\1 CXX)|"
    else
        sed "s|^cc |${CC:-cc} |"
    fi
}

# add_as NUMBER LANGUAGE: the commands of README.md's NUMBER-th way, in a folder
# with the repository's two files, a project, and a home for what is installed.
add_as() {
    way=$build/way-$1-$2
    mkdir -p "$way/myproject"
    cp timingwheel.h Makefile "$way"
    block c 1 >"$way/myproject/main.$2"
    block cmake 1 | translate "$2" >"$way/myproject/CMakeLists.txt"
    block sh "$1" | translate "$2" >"$way/commands"
    grep -q . "$way/commands" && grep -q 'int main' "$way/myproject/main.$2" &&
        (cd "$way" && HOME=$way/home && export HOME && sh -e commands) || return
    program=$way/myprogram
    [ -f "$program" ] || program=$way/build/myprogram
    block output 1 >"$way/expected"
    "$program" >"$way/printed" && diff "$way/expected" "$way/printed"
}

# way NUMBER NAME [TOOL]
way() {
    for language in c cpp; do
        if [ -n "${3:-}" ] && ! have "$3"; then
            skip "$2, $language" "$3 is missing"
        elif [ $language = cpp ] && ! have "${CXX:-c++}"; then
            skip "$2, $language" "${CXX:-c++} is missing"
        else
            expect "$2, $language" add_as "$1" "$language"
        fi
    done
}

# ------------------------------------------------- what is installed where ---

files='opt/tw/include/timingwheel.h
opt/tw/share/cmake/timingwheel/timingwheel-config-version.cmake
opt/tw/share/cmake/timingwheel/timingwheel-config.cmake
opt/tw/share/pkgconfig/timingwheel.pc'

make_to() { # TARGET
    ${MAKE:-make} "$1" DESTDIR="$build/root" PREFIX=/opt/tw
}

installs() {
    make_to install || return
    (cd "$build/root" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) \
        >"$build/installed"
    echo "$files" | diff - "$build/installed" &&
        cmp timingwheel.h "$build/root/opt/tw/include/timingwheel.h" &&
        ! grep -r "$build" "$build/root"
}

# A file of another package in the folders that are shared stays.
uninstalls() {
    touch "$build/root/opt/tw/share/pkgconfig/other.pc"
    make_to uninstall || return
    left=$(find "$build/root" -type f -o -name timingwheel)
    echo "left: $left"
    [ "$left" = "$build/root/opt/tw/share/pkgconfig/other.pc" ]
}

# ------------------------------------------------------------ one version ---

header_agrees() {
    echo "the macros say $version"
    sed -n '1s/.* - v\([0-9.]*\) - .*/\1/p' timingwheel.h >"$build/title"
    sed -n '/CHANGES/,/LICENCE/s/^   \([0-9.]*\)  .*/\1/p' timingwheel.h |
        sed 1q >"$build/changes"
    echo "$version" | diff - "$build/title" &&
        echo "$version" | diff - "$build/changes"
}

stands_nowhere_else() {
    grep -nF "$version" Makefile README.md test/README.md
    true
}

pkg_config_agrees() {
    found=$(PKG_CONFIG_PATH=$build/prefix/share/pkgconfig \
        pkg-config --modversion timingwheel)
    echo "the macros say $version, pkg-config $found"
    [ "$found" = "$version" ]
}

# finds VERSION...: does CMake accept what is installed as this version?
finds() {
    mkdir -p "$build/find"
    # The variables are CMake's.
    # shellcheck disable=SC2016
    printf '%s\n' 'cmake_minimum_required(VERSION 3.10)' \
        'project(find NONE)' \
        "find_package(timingwheel $* REQUIRED)" \
        'file(WRITE ${CMAKE_BINARY_DIR}/found ${timingwheel_VERSION})' \
        >"$build/find/CMakeLists.txt"
    rm -rf "$build/find/build"
    cmake -S "$build/find" -B "$build/find/build" \
        -DCMAKE_PREFIX_PATH="$build/prefix"
}

refuses() {
    ! finds "$@" && ! [ -e "$build/find/build/found" ]
}

cmake_agrees() {
    next=${version%.*}.$((${version##*.} + 1))
    major=${version%%.*}
    finds && [ "$(cat "$build/find/build/found")" = "$version" ] &&
        finds "$major" && finds "$version" EXACT &&
        refuses "$next" && refuses $((major + 1)) && refuses $((major - 1))
}

expect "make install: four files, and no path of the build in them" installs
expect "make uninstall: all of them are gone, and nothing else" uninstalls
expect "the version in the header's title and changes" header_agrees
expect_nothing "the version stands nowhere else" stands_nowhere_else
expect "make install: to a prefix" \
    "${MAKE:-make}" install PREFIX="$build/prefix"
if have pkg-config; then
    expect "pkg-config knows the version" pkg_config_agrees
else
    skip "pkg-config knows the version" "pkg-config is missing"
fi
if have cmake; then
    expect "CMake knows the version, and what it may stand for" cmake_agrees
else
    skip "CMake knows the version" "cmake is missing"
fi
way 1 "README.md: copied"
way 2 "README.md: found by pkg-config" pkg-config
way 3 "README.md: found by CMake" cmake
tap_end
