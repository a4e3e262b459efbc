#!/bin/sh
# install.sh - tests `make install`, `make uninstall`, and the ways in which
# README.md adds the header to a project, for the first program of README.md.
# The lines for CMake are taken from README.md. Prints TAP. A case without its
# tool is skipped with a warning, and fails if STRICT is set. Run from the top
# of the repository.
#
# SPDX-License-Identifier: MIT
set -u
build=.build/install
. test/lib/tap.sh

# The makes and programs below must not see the settings of an outer `make`.
unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR PKG_CONFIG_PATH
unset CMAKE_PREFIX_PATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

rm -rf "$build"
mkdir -p "$build/alone"
top=$PWD
build=$top/$build
version=$(awk '/^#define TW_VERSION_/ { printf "%s%s", dot, $3; dot = "." }' \
    timingwheel.h)
awk '/^```/ { inside = $0 == "```c" && ++seen == 1; next } inside' README.md \
    >"$build/main.c"

# runs PROGRAM: it prints what README.md says.
runs() {
    [ "$("$@")" = 'connection 7 is idle' ]
}

# line CALL: the call of CMake that README.md shows.
line() {
    grep -o "$1([^\`]*)" README.md | sed "s|/path/to/folder|$top|"
}

# project FOLDER LINE...: builds and runs a project with these lines.
project() {
    folder=$build/$1
    shift
    mkdir -p "$folder"
    {
        echo 'cmake_minimum_required(VERSION 3.14)'
        echo 'project(myproject C)'
        echo 'add_executable(myprogram ../main.c)'
        printf '%s\n' "$@"
    } >"$folder/CMakeLists.txt"
    cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$build/usr" &&
        cmake --build "$folder/build" && runs "$folder/build/myprogram"
}

# From the header and the Makefile alone; what make says must be the commands.
install_alone() {
    cp timingwheel.h Makefile "$build/alone" &&
        make -C "$build/alone" install PREFIX="$build/usr" 2>"$build/errors" &&
        ! [ -s "$build/errors" ] && (cd "$build/usr" && find . -type f | sort |
        tr '\n' ' ' | grep -qx './include/timingwheel.h .*pkgconfig.*pc ')
}

uninstalled() {
    make -s uninstall PREFIX="$build/usr" &&
        [ -z "$(find "$build/usr" -type f)" ]
}

staged() {
    make -s install DESTDIR="$build/stage" PREFIX=/usr &&
        [ -f "$build/stage/usr/include/timingwheel.h" ] &&
        grep -qx 'prefix=/usr' "$build"/stage/usr/share/pkgconfig/timingwheel.pc
}

expect 'make install works from header and Makefile alone' install_alone
expect 'make install with DESTDIR' staged
PKG_CONFIG_PATH=$build/usr/share/pkgconfig
export PKG_CONFIG_PATH
if have pkg-config; then
    expect 'pkg-config knows the version' \
        test "$(pkg-config --modversion timingwheel)" = "$version"
    # shellcheck disable=SC2046
    expect 'pkg-config leads to the header' cc -std=gnu99 -O2 \
        -o "$build/program" $(pkg-config --cflags timingwheel) "$build/main.c"
    expect 'the program of README.md runs' runs "$build/program"
else
    skip 'pkg-config leads to the header' 'pkg-config is missing'
fi
if have cmake; then
    expect 'CMake after make install' project installed \
        "$(line find_package)" "$(line target_link_libraries)"
    expect 'CMake refuses another major version' sh -c "! cmake -P /dev/stdin \
        -DCMAKE_PREFIX_PATH='$build/usr' <<'END'
find_package(timingwheel 3 REQUIRED)
END"
    expect 'CMake without installing' project added "$(line add_subdirectory)" \
        "$(line target_link_libraries)"
    expect 'CMake by FetchContent' project fetched 'include(FetchContent)' \
        "FetchContent_Declare(timingwheel SOURCE_DIR \"$top\" \
            $(grep -o 'SOURCE_SUBDIR [^`]*' README.md))" \
        'FetchContent_MakeAvailable(timingwheel)' \
        "$(line target_link_libraries)"
else
    skip 'CMake' 'cmake is missing'
fi
expect 'make uninstall leaves nothing' uninstalled
tap_end
