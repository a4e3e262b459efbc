#!/bin/sh
# install.sh - tests `make install`, `make uninstall`, and the ways in which
# README.md adds the header to a project. The commands and the lines for CMake
# are used exactly as README.md shows them, for the first program of README.md.
# Prints TAP. A case without its tool is skipped with a warning, and fails if
# STRICT is set. Run from the top of the repository.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/install
. test/lib/tap.sh

# The makes and programs below must not see the settings of an outer `make`.
unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR PKG_CONFIG_PATH
unset CMAKE_PREFIX_PATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

rm -rf "$build"
mkdir -p "$build"
build=$(cd "$build" && pwd)
version=$(awk '/^#define TW_VERSION_/ { printf "%s%s", dot, $3; dot = "." }' \
    timingwheel.h)

# block LANGUAGE: the first block of README.md with this fence.
block() {
    awk -v fence="\`\`\`$1" '
        /^```/ { inside = $0 == fence && ++seen == 1; next }
        inside { print }
    ' README.md
}

# lines WAY: the commands below the comment that begins with the name of the
# way, up to the next comment.
lines() {
    block sh | awk -v way="$1" '
        /^# / { inside = index($0, "# " way) == 1; next }
        inside { print }
    '
}

# Changes the compiler of a command to CC.
with_cc() {
    sed "s|^\(.*[^a-z]\)*cc |\1${CC:-cc} |"
}

# prepare WAY: makes the project that gets the header. The project has what
# README.md takes for granted: main.c, and a CMakeLists.txt that names the
# project and the program.
prepare() {
    project=$folder/myproject
    mkdir -p "$project"
    cp timingwheel.h Makefile "$folder"
    block c >"$project/main.c"
    block c | sed -n 's|.*// prints "\(.*\)"$|\1|p' >"$folder/expected"
    case $1 in
    copy | pkg-config) lines "$1" | with_cc >"$folder/commands" ;;
    *) prepare_cmake ;;
    esac
}

# The lines for CMakeLists.txt are comments indented by four, and the command
# stands before them.
prepare_cmake() {
    {
        echo 'cmake_minimum_required(VERSION 3.14)'
        echo "project(myproject C)"
        echo 'add_executable(myprogram main.c)'
        block sh | sed -n 's/^#     //p'
    } >"$project/CMakeLists.txt"
    {
        block sh | grep -o '^make install [^&]*'
        block sh | sed -n 's/^# CMake.*: //p' | with_cc
        echo 'cmake --build build'
    } >"$folder/commands"
}

# add_as WAY: adds the header to a project in this way, builds the
# project, and compares the output of its program.
add_as() {
    folder=$build/$1
    prepare "$@" || return
    if ! [ -s "$folder/commands" ] || ! [ -s "$folder/expected" ]; then
        echo "README.md has no commands or no output for this way"
        return 1
    fi
    (cd "$folder" && HOME=$folder/home && export HOME && sh -e commands) ||
        return
    program=$folder/myprogram
    [ -f "$program" ] || program=$folder/build/myprogram
    "$program" >"$folder/printed" &&
        diff "$folder/expected" "$folder/printed"
}

# way NAME [TOOL]
way() {
    if have "${2:-sh}"; then
        expect "README.md: $1" add_as "$1"
    else
        skip "README.md: $1" "$2 is missing"
    fi
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

way copy
way pkg-config pkg-config
way CMake cmake
tap_end
