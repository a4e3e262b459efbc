# Makefile - SPDX-License-Identifier: MIT
#
# The library is timingwheel.h alone and needs no building; this is for its
# tests, its demo and its benchmark. `make help` lists what there is. Needs GNU
# make, on some systems called gmake. The next line is a variable to GNU make,
# and an error that says so to the make of BSD.
.error = This Makefile needs GNU make: run gmake

CFLAGS ?= -O2 -Wall -Wextra
PREFIX ?= /usr/local
BUILD = .build

# A new C file in one of the folders that test/lib/programs.sh names is a test.
TEST_SOURCES := $(shell test/lib/programs.sh)
TESTS = $(basename $(notdir $(TEST_SOURCES)))
TEST_PROGRAMS = $(TESTS:%=$(BUILD)/%)
TEST_SCRIPTS = test/docs/install.sh test/docs/examples.sh test/search/work.sh \
	test/unit/call.sh

ifneq ($(words $(TESTS)),$(words $(sort $(TESTS))))
$(error two test programs have the same name: $(TEST_SOURCES))
endif

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
	universal-ctags clang-format shellcheck libc6-dev-i386 qemu-user \
	gcc-$(shell gcc -dumpversion 2>/dev/null)-multilib \
	clang-19 clang-tidy-19 libclang-rt-19-dev llvm-19 python3 \
	frama-c-base why3 z3 tcc spin pkg-config cmake git meson gdb
TARGETS_PACKAGES = musl-tools qemu-user qemu-system-arm gcc-avr avr-libc simavr \
	gcc-arm-none-eabi libnewlib-arm-none-eabi \
	gcc-s390x-linux-gnu libc6-dev-s390x-cross \
	gcc-powerpc-linux-gnu libc6-dev-powerpc-cross \
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
	gcc-arm-linux-gnueabihf libc6-dev-armhf-cross \
	gcc-riscv64-linux-gnu libc6-dev-riscv64-cross \
	gcc-mingw-w64-x86-64-win32 wine64 emscripten
# Event loops, for the recipes and for the engines of the bench.
LOOP_PACKAGES = pkg-config liburing-dev libuv1-dev libev-dev libevent-dev \
	libglib2.0-dev libsystemd-dev
RECIPES_PACKAGES = $(LOOP_PACKAGES) libasio-dev g++ clang \
	gcc-mingw-w64-x86-64-win32 wine64 emscripten \
	gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
HOSTS_PACKAGES = cmake dpkg-dev libssl-dev zlib1g-dev libevent-dev \
	autoconf automake libtool bison flex python3-dev libelf-dev \
	libyang2-dev libjson-c-dev libreadline-dev
BENCH_PACKAGES = hyperfine gnuplot-nox libbsd-dev $(LOOP_PACKAGES)
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

help:
	@echo 'make demo        a server on epoll with 2,000 connections, for 10 s'
	@echo 'make test        every test; needs a C compiler and make'
	@echo 'make check       all of test/README.md: 25 to 40 minutes on two cores'
	@echo 'make soak        200 million random operations against the oracle'
	@echo 'make fuzz        libFuzzer on every call, against the oracle, a minute'
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
	@echo 'make deps        apt-get installs what check and bench need (6 GB);'
	@echo '                 or deps-check, -targets, -recipes, -hosts, -bench'
	@echo 'make clean       removes what was built'
	@echo
	@echo 'CC, CFLAGS and PREFIX can be overridden: make test CC=clang'

# The demo needs epoll, which Linux has. The engines of the benchmark that need
# a library are left out without that library.
all: $(TEST_PROGRAMS) bench/timers
	@if echo '#include <sys/epoll.h>' | $(CC) -E - >/dev/null 2>&1; then \
	    $(MAKE) --no-print-directory $(DEMO); \
	else \
	    echo 'left out: the demo, which needs epoll (Linux)'; \
	fi

demo: $(DEMO)
	$(DEMO) $(DEMO_OPTIONS)

# The compiler takes longer than most of the tests: two of it at a time.
test:
	@$(MAKE) --no-print-directory \
	    $(if $(findstring j,$(MAKEFLAGS)),,-j2) $(TEST_PROGRAMS)
	@CC='$(CC)' CFLAGS='$(CFLAGS)' \
	    test/run.sh $(TEST_SCRIPTS) $(TEST_PROGRAMS)

check:
	@test/check.sh

soak:
	@ONLY='^soak' test/check.sh

targets:
	@test/targets/targets.sh

fuzz:
	@test/fuzz/fuzz.sh

coverage:
	@test/coverage/coverage.sh

prove:
	@test/prove/prove.sh

mutate:
	@test/mutate/mutate.sh

hosts:
	@test/hosts/hosts.sh $(HOSTS_OPTIONS)

# The engine timeout comes from a source package, if Debian's can be had.
bench-sources:
	@bench/sources.sh

bench bench-full:
	@bench/sources.sh || true
	@$(MAKE) -s --no-print-directory bench/timers
	@bench/run.sh $(if $(filter bench-full,$@),--full)

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

# What to install is said by the name of the target. With
# APT_OPTIONS='-o Dpkg::Options::=--force-unsafe-io' it is faster, where a power
# cut would do no harm.
deps: PACKAGES = $(CHECK_PACKAGES) $(TARGETS_PACKAGES) $(RECIPES_PACKAGES) \
	$(HOSTS_PACKAGES) $(BENCH_PACKAGES)
deps-check: PACKAGES = $(CHECK_PACKAGES)
deps-targets: PACKAGES = $(TARGETS_PACKAGES)
deps-recipes: PACKAGES = $(RECIPES_PACKAGES)
deps-hosts: PACKAGES = $(HOSTS_PACKAGES)
deps-bench: PACKAGES = $(BENCH_PACKAGES)
deps deps-check deps-targets deps-recipes deps-hosts deps-bench:
	$(SUDO) apt-get update
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y \
	    --no-install-recommends $(APT_OPTIONS) $(sort $(PACKAGES))

clean:
	rm -rf $(BUILD) bench/timers

vpath %.c $(sort $(dir $(TEST_SOURCES)))

$(BUILD)/%: %.c timingwheel.h $(wildcard test/lib/*.h) $(BUILD)/flags
	$(CC) -std=$$(test/lib/standard.sh $<) $(CFLAGS) -o $@ $<

$(BUILD)/portable: $(wildcard test/unit/*.c)

$(DEMO): test/recipes/epoll.c timingwheel.h $(BUILD)/flags
	$(CC) -std=c99 $(CFLAGS) -o $@ $<

# bench/engines.sh names the engines that can be built here. C11 and -pthread are
# for bench/post.c.
BENCH_SOURCES = $(wildcard bench/*.c)
bench/timers: $(wildcard bench/*.[ch] bench/engines/*.[ch]) timingwheel.h \
    $(BUILD)/flags $(BUILD)/bench/engines
	$(CC) -std=c11 -pthread $(CFLAGS) -o $@ $(BENCH_SOURCES) \
	    $$(cat $(BUILD)/bench/engines)

# These change only when the compiler, its flags or the libraries do, so that
# everything is then built again.
$(BUILD)/bench/engines: FORCE
	@mkdir -p $(BUILD)/bench
	@CC='$(CC)' CFLAGS='$(CFLAGS)' bench/engines.sh >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' >$@

.PHONY: help all demo test check soak fuzz targets coverage prove mutate hosts \
	bench bench-full bench-sources install uninstall clean FORCE \
	deps deps-check deps-targets deps-recipes deps-hosts deps-bench
