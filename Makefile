# Makefile - SPDX-License-Identifier: MIT
#
# The library is timingwheel.h alone and needs no building; this is for its
# tests, its demo and its benchmark. `make help` lists what there is.

CFLAGS ?= -O2 -g -Wall -Wextra
PREFIX ?= /usr/local
BUILD = .build

# Every test/NAME.c is a test, but those that a script of its own runs; and
# test/NAME.sh each.
TESTS = $(filter-out cost trace,$(patsubst test/%.c,%,$(wildcard test/*.c)))
TEST_SCRIPTS = call examples install work

TEST_PROGRAMS = $(TESTS:%=$(BUILD)/%)
DEMO = $(BUILD)/demo

# Where things are installed: beside the header what leads pkg-config and CMake
# to it, which is the same on every machine.
INCLUDE_DIR = $(DESTDIR)$(PREFIX)/include
PKGCONFIG_DIR = $(DESTDIR)$(PREFIX)/share/pkgconfig
CMAKE_DIR = $(DESTDIR)$(PREFIX)/share/cmake/timingwheel

# The version stands in the header, and nowhere else.
VERSION = $(shell awk '$$2 ~ /^TW_VERSION_/ { printf "%s%s", dot, $$3; \
	dot = "." }' timingwheel.h)

define PKGCONFIG_FILE
prefix=$(PREFIX)
includedir=$${prefix}/include

Name: timingwheel
Description: Timers for event loops: a hierarchical timing wheel in one header
Version: $(VERSION)
Cflags: -I$${includedir}
endef

define CMAKE_FILE
if(NOT TARGET timingwheel::timingwheel)
  add_library(timingwheel::timingwheel INTERFACE IMPORTED)
  set_target_properties(timingwheel::timingwheel PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "$${CMAKE_CURRENT_LIST_DIR}/../../../include")
endif()
endef

define CMAKE_VERSION_FILE
set(PACKAGE_VERSION $(VERSION))
if(PACKAGE_FIND_VERSION_MAJOR EQUAL $(firstword $(subst ., ,$(VERSION)))
   AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
endef

# What `make check` needs beyond a C compiler: sanitizers, valgrind, static
# analysis; coverage, proofs, mutation; the compilers and emulators of other
# machines. gcc-12-multilib and not gcc-multilib, which cannot be there together
# with cross compilers.
CHECK_PACKAGES = clang clang-tidy libclang-rt-dev cppcheck valgrind \
	universal-ctags libc6-dev-i386 \
	gcc-$(shell gcc -dumpversion 2>/dev/null)-multilib \
	clang-19 clang-tidy-19 libclang-rt-19-dev llvm-19 python3 \
	frama-c-base why3 z3 tcc spin pkg-config cmake gdb
TARGET_PACKAGES = musl-tools qemu-user qemu-system-arm gcc-avr avr-libc simavr \
	gcc-arm-none-eabi libnewlib-arm-none-eabi \
	gcc-s390x-linux-gnu libc6-dev-s390x-cross \
	gcc-powerpc-linux-gnu libc6-dev-powerpc-cross \
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
	gcc-arm-linux-gnueabihf libc6-dev-armhf-cross \
	gcc-riscv64-linux-gnu libc6-dev-riscv64-cross \
	gcc-mingw-w64-x86-64-win32 wine64 emscripten
# For the recipes, and for the engines of the bench that are libraries.
LOOP_PACKAGES = pkg-config liburing-dev libuv1-dev libev-dev libevent-dev \
	libglib2.0-dev libsystemd-dev
HOSTS_PACKAGES = cmake dpkg-dev libssl-dev zlib1g-dev libevent-dev \
	autoconf automake libtool bison flex python3-dev libelf-dev \
	libyang2-dev libjson-c-dev libreadline-dev
BENCH_PACKAGES = hyperfine gnuplot-nox libbsd-dev
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

help:
	@echo 'make demo        a server on epoll with 2,000 connections, for 10 s'
	@echo 'make test        every test; needs a C compiler and make'
	@echo 'make check       all of test/README.md: 20 to 30 minutes on two cores'
	@echo 'make soak        500 million random operations against the oracle'
	@echo 'make fuzz        libFuzzer on every call, against the oracle, 3 minutes'
	@echo 'make targets     one trace on other machines, emulated: the same hash'
	@echo 'make coverage    lines, branches and MC/DC of the header (clang-19)'
	@echo 'make prove       CBMC and Frama-C on the functions of the header'
	@echo 'make mutate      do the tests notice when the header is changed?'
	@echo 'make hosts       libuv, libevent, Tor, FRRouting: their tests on this'
	@echo 'make bench       against heaps, trees and other loops, 30 min'
	@echo 'make bench-full  the same with up to 100 million timers'
	@echo 'make all         builds tests, demo and benchmark, runs nothing'
	@echo 'make install     the header, for pkg-config and CMake, to $$PREFIX'
	@echo '                 ($(PREFIX)); make uninstall takes it away again'
	@echo 'make deps        apt-get installs what check and bench need (6 GB)'
	@echo 'make clean       removes what was built'
	@echo
	@echo 'CC, CFLAGS and PREFIX can be overridden: make test CC=clang'

all: $(TEST_PROGRAMS) $(DEMO) bench/timers

demo: $(DEMO)
	$(DEMO) $(DEMO_OPTIONS)

# The compiler takes longer than most of the tests: two of it at a time.
test:
	@$(MAKE) -s --no-print-directory \
	    $(if $(findstring j,$(MAKEFLAGS)),,-j2) $(TEST_PROGRAMS)
	@CC='$(CC)' CFLAGS='$(CFLAGS)' \
	    test/run.sh $(TEST_PROGRAMS) $(TEST_SCRIPTS:%=test/%.sh)

check:
	@test/check.sh $(TESTS)

soak:
	@ONLY='^soak' test/check.sh

targets:
	@test/targets.sh

fuzz:
	@test/fuzz/run.sh

coverage:
	@test/coverage.sh

prove:
	@test/prove/run.sh

mutate:
	@test/mutate/run.sh

hosts:
	@test/hosts/run.sh $(HOSTS_OPTIONS)

bench: bench/timers
	@bench/run.sh

bench-full: bench/timers
	@bench/run.sh --full

install: export PC = $(PKGCONFIG_FILE)
install: export CONFIG = $(CMAKE_FILE)
install: export CONFIG_VERSION = $(CMAKE_VERSION_FILE)
install:
	install -d '$(INCLUDE_DIR)' '$(PKGCONFIG_DIR)' '$(CMAKE_DIR)'
	install -m 644 timingwheel.h '$(INCLUDE_DIR)'
	@umask 022 && cd '$(PKGCONFIG_DIR)' && echo "$$PC" >timingwheel.pc
	@umask 022 && cd '$(CMAKE_DIR)' && \
	    echo "$$CONFIG" >timingwheel-config.cmake && \
	    echo "$$CONFIG_VERSION" >timingwheel-config-version.cmake

uninstall:
	rm -f '$(INCLUDE_DIR)/timingwheel.h' '$(PKGCONFIG_DIR)/timingwheel.pc'
	rm -rf '$(CMAKE_DIR)'

# With APT_OPTIONS='-o Dpkg::Options::=--force-unsafe-io' it is faster, where a
# power cut would do no harm.
deps:
	$(SUDO) apt-get update
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y \
	    --no-install-recommends $(APT_OPTIONS) \
	    $(CHECK_PACKAGES) $(TARGET_PACKAGES) $(LOOP_PACKAGES) \
	    $(HOSTS_PACKAGES) \
	    $(BENCH_PACKAGES)

clean:
	rm -rf $(BUILD) bench/timers

$(BUILD)/%: test/%.c timingwheel.h $(wildcard test/*.h) $(BUILD)/flags
	$(CC) -std=$$(test/standard.sh $<) $(CFLAGS) -o $@ $<

$(BUILD)/plain: test/promises.c

$(DEMO): test/loops/epoll.c timingwheel.h $(BUILD)/flags
	$(CC) -std=c99 $(CFLAGS) -o $@ $<

# Every bench/engine_NAME.c is an engine, and empty without its library. C11 and
# -pthread are for bench/post.c.
bench/timers: $(wildcard bench/*.[ch]) timingwheel.h $(BUILD)/flags \
    $(BUILD)/libraries
	$(CC) -std=c11 -pthread $(CFLAGS) -o $@ $(filter bench/%.c,$^) \
	    $$(cat $(BUILD)/libraries)

# These change only when the compiler, its flags or the libraries do, so that
# everything is then built again.
$(BUILD)/libraries: FORCE
	@mkdir -p $(BUILD)
	@CC='$(CC)' CFLAGS='$(CFLAGS)' bench/libraries.sh >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' >$@

.PHONY: help all demo test check soak fuzz targets coverage prove mutate hosts \
	bench bench-full install uninstall deps clean FORCE
