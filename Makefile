# Makefile - SPDX-License-Identifier: MIT
#
# The library is timingwheel.h alone and needs no building; this is for its
# tests, its demo and its benchmark. `make help` lists what there is.

CFLAGS ?= -O2 -g -Wall -Wextra
PREFIX ?= /usr/local
BUILD = .build

# test/NAME.c each, and test/NAME.sh each.
TESTS = promises memory model exhaustive peer_bugs_early_late \
	peer_bugs_structure peer_bugs_callbacks misuse states \
	corruption
TEST_SCRIPTS = examples

TEST_PROGRAMS = $(TESTS:%=$(BUILD)/%)
DEMO = $(BUILD)/demo

CHECK_PACKAGES = clang clang-tidy libclang-rt-dev cppcheck valgrind \
	universal-ctags libc6-dev-i386 \
	gcc-$(shell gcc -dumpversion 2>/dev/null)-multilib
TARGET_PACKAGES = musl-tools qemu-user qemu-system-arm gcc-avr avr-libc simavr \
	gcc-arm-none-eabi libnewlib-arm-none-eabi \
	gcc-s390x-linux-gnu libc6-dev-s390x-cross \
	gcc-powerpc-linux-gnu libc6-dev-powerpc-cross \
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
	gcc-arm-linux-gnueabihf libc6-dev-armhf-cross \
	gcc-riscv64-linux-gnu libc6-dev-riscv64-cross \
	gcc-mingw-w64-x86-64-win32 wine64
BENCH_PACKAGES = hyperfine gnuplot-nox libbsd-dev pkg-config
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

help:
	@echo 'make demo        a server on epoll with 2,000 connections, for 10 s'
	@echo 'make test        every test; needs a C compiler and make'
	@echo 'make check       the tests under sanitizers and valgrind, and the'
	@echo '                 compile gates and static analysis of the header'
	@echo 'make targets     one trace on other machines, emulated: the same hash'
	@echo 'make fuzz        libFuzzer on every call, against the oracle, 3 minutes'
	@echo 'make coverage    lines, branches and MC/DC of the header (clang-19)'
	@echo 'make bench       against heaps, trees and lists, some minutes'
	@echo 'make bench-full  the same with up to 100 million timers'
	@echo 'make all         builds tests, demo and benchmark, runs nothing'
	@echo 'make install     the header to $$PREFIX/include ($(PREFIX))'
	@echo 'make deps        apt-get installs what check and bench need'
	@echo 'make deps-targets  the same for targets (some 3 GB)'
	@echo 'make clean       removes what was built'
	@echo
	@echo 'CC, CFLAGS and PREFIX can be overridden: make test CC=clang'

all: $(TEST_PROGRAMS) $(DEMO) bench/timers

demo: $(DEMO)
	$(DEMO) $(DEMO_OPTIONS)

test: $(TEST_PROGRAMS)
	@CC='$(CC)' CFLAGS='$(CFLAGS)' \
	    test/run.sh $(TEST_PROGRAMS) $(TEST_SCRIPTS:%=test/%.sh)

check:
	@test/check.sh $(TESTS)

targets:
	@test/targets.sh

fuzz:
	@test/fuzz/run.sh

coverage:
	@test/coverage.sh

bench: bench/timers
	@bench/run.sh

bench-full: bench/timers
	@bench/run.sh --full

install:
	install -d $(DESTDIR)$(PREFIX)/include
	install -m 644 timingwheel.h $(DESTDIR)$(PREFIX)/include

deps:
	$(SUDO) apt-get update
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y \
	    --no-install-recommends $(CHECK_PACKAGES) $(BENCH_PACKAGES)

deps-targets:
	$(SUDO) apt-get update
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y \
	    --no-install-recommends $(TARGET_PACKAGES)

clean:
	rm -rf $(BUILD) bench/timers

$(BUILD)/%: test/%.c timingwheel.h $(wildcard test/*.h) $(BUILD)/flags
	$(CC) -std=c99 $(CFLAGS) -o $@ $<

$(DEMO): test/loops/epoll.c timingwheel.h $(BUILD)/flags
	$(CC) -std=c99 $(CFLAGS) -o $@ $<

# Every bench/engine_NAME.c is an engine; rbtree is empty without libbsd.
bench/timers: $(wildcard bench/*.[ch]) timingwheel.h $(BUILD)/flags
	$(CC) -std=c99 $(CFLAGS) -o $@ $(filter bench/%.c,$^)

# Changes only when the compiler or its flags do, so that everything is then
# built again.
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' >$@

.PHONY: help all demo test check targets fuzz coverage bench bench-full \
	install deps deps-targets clean FORCE
