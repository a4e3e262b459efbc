# Makefile - SPDX-License-Identifier: MIT
#
# The library is timingwheel.h alone and needs no building; this is for its
# tests, its demo and its benchmark. `make help` lists what there is. Needs GNU
# make, on some systems called gmake. The next line is a variable to GNU make,
# and an error that says so to the make of BSD.
.error = This Makefile needs GNU make: run gmake

CFLAGS ?= $(LEVEL) -Wall -Wextra
LEVEL = -O2
PREFIX ?= /usr/local
BUILD = .build

# Which files are test programs. Without the tests, none.
TEST_SOURCES := $(shell $(wildcard test/lib/programs.sh))
TESTS = $(basename $(notdir $(TEST_SOURCES)))
TEST_PROGRAMS = $(TESTS:%=$(BUILD)/%)
TEST_SCRIPTS = test/compile/interface.sh test/docs/examples.sh

ifneq ($(words $(TESTS)),$(words $(sort $(TESTS))))
$(error two test programs have the same name: $(TEST_SOURCES))
endif

DEMO = $(BUILD)/client
IS_LINUX = $(filter Linux,$(shell uname))

# Where things are installed: beside the header what leads pkg-config and CMake
# to it, which is the same on every machine.
INCLUDE_DIR = $(DESTDIR)$(PREFIX)/include
PKGCONFIG_DIR = $(DESTDIR)$(PREFIX)/share/pkgconfig
CMAKE_DIR = $(DESTDIR)$(PREFIX)/share/cmake/timingwheel

# The version stands in the header, and nowhere else.
VERSION = $(shell awk '/^#define TW_VERSION_/ { printf "%s%s", dot, $$3; \
	dot = "." }' timingwheel.h)

define PKGCONFIG_FILE
prefix=$(abspath $(PREFIX))
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

help:
	@echo 'make demo      a server on epoll with 2,000 connections, for 10 s'
	@echo 'make test      every test: 30 s of a processor; needs a C compiler'
	@echo 'make quick     after each edit: 15 s'
	@echo 'make format    clang-format 14 on all C files'
	@echo 'make check     more evidence (test/README.md): 25 minutes on two cores'
	@echo '               check-header, -core, -fields, -mailbox, -recipes: less'
	@echo 'make fuzz      libFuzzer on every call, against the oracle, a minute'
	@echo 'make coverage  lines, branches and MC/DC of the header (clang-19)'
	@echo 'make mutate    do the tests notice when the header is changed?'
	@echo 'make bench     against heaps, a tree and wheels, 5 minutes; fetches'
	@echo '               21 MB. bench-publish: for the page, 20 minutes'
	@echo 'make install   the header, for pkg-config and CMake, to $$PREFIX'
	@echo '               ($(PREFIX)); make uninstall takes it away again'
	@echo 'make deps      apt-get installs what check and bench need: 1.1 GB to'
	@echo '               fetch, 6 GB on disk'
	@echo 'make clean     removes what was built'
	@echo
	@echo 'CC, CFLAGS and PREFIX can be overridden: make test CC=clang'

# The demo needs epoll, which Linux has. The engines of the benchmark that need
# a library are left out without that library.
all: $(TEST_PROGRAMS) $(BUILD)/bench/timers $(if $(IS_LINUX),$(DEMO))

ifneq ($(IS_LINUX),)
demo: $(DEMO)
	$(DEMO) $(DEMO_OPTIONS)
else
demo:
	@echo 'make demo needs epoll, which Linux has: try test/recipes/poll.c'
	@false
endif

# Compiling takes longer than most of the tests, so two programs are compiled at
# a time, and by -O1, which takes half the time of -O2. The first program that
# does not compile ends the run, with its first error. quick is for each edit:
# without examples and C++.
test quick $(TEST_PROGRAMS): private LEVEL = -O1
test: SCRIPTS = $(TEST_SCRIPTS)
test: PROGRAMS = $(TEST_PROGRAMS)
quick: SCRIPTS = test/compile/interface.sh
quick: PROGRAMS = $(patsubst %.c,$(BUILD)/%, \
    $(notdir $(filter %.c,$(TEST_SOURCES))))
test quick:
	@mkdir -p $(BUILD)
	@echo 'compiles $(words $(PROGRAMS)) test programs'
	@$(MAKE) -s --no-print-directory \
	    $(if $(findstring j,$(MAKEFLAGS)),,-j2) $(PROGRAMS) \
	    >$(BUILD)/compiled 2>&1 || { \
	    grep -m 1 -A 4 -E 'error|not found' $(BUILD)/compiled || \
	    cat $(BUILD)/compiled; \
	    echo 'This does not compile; all that was said: $(BUILD)/compiled'; \
	    exit 1; }
	@grep -A 4 'warning: ' $(BUILD)/compiled || true
	@for command in $(SCRIPTS) $(PROGRAMS); do \
	    echo "$$(basename $$command .sh) $$command"; \
	done >$(BUILD)/list
	@CC='$(CC)' CFLAGS='$(CFLAGS)' exec test/run.sh <$(BUILD)/list

format:
	clang-format -i timingwheel.h $$(git ls-files -co --exclude-standard \
	    '*.c' '*.h' '*.cpp' | grep -v '^test/hosts/')

# The parts of `make check` for one kind of change: see test/check.sh.
CHECKS = header core fields mailbox recipes
check-header: export ONLY = ^lint|^gates|mutate-bugs|^examples|^library
check-core: export ONLY = soak|^asan|^work|coverage
check-fields: export ONLY = m32|targets
check-mailbox: export ONLY = threads
check-recipes: export ONLY = ^recipes
check $(CHECKS:%=check-%):
	@test/check.sh

fuzz coverage mutate:
	@test/$@/$@.sh

# The engine timeout comes from a source package, if Debian's can be had.
bench bench-publish:
	@bench/sources.sh || true
	@$(MAKE) -s --no-print-directory $(BUILD)/bench/timers
	@bench/bench.py $(if $(filter %-publish,$@),--publish) $(BENCH_OPTIONS)

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

# The packages of test/lib/packages.txt: all, or those of one kind. With
# APT_OPTIONS='-o Dpkg::Options::=--force-unsafe-io' it is faster, where a power
# cut would do no harm. KIND is a pattern for the beginning of a line.
KINDS = check targets recipes hosts bench
ROOT = $(if $(filter 0,$(shell id -u)),,sudo)
deps: KIND = [a-z]*
deps-%: KIND = $(@:deps-%=%)
deps $(KINDS:%=deps-%):
	@echo 'runs apt-get as root, and fetches up to 1.1 GB; make -n shows how'
	$(ROOT) apt-get update
	$(ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -y \
	    --no-install-recommends $(APT_OPTIONS) $(sort $(shell \
	    sed -n 's/^$(KIND): //p' test/lib/packages.txt | \
	    sed "s/GCC/$$(gcc -dumpversion)/"))

clean:
	rm -rf $(BUILD)

VPATH = $(sort $(dir $(TEST_SOURCES)))

# compile.sh notes in NAME.d which files a program includes.
-include $(TEST_PROGRAMS:=.d)
$(TEST_PROGRAMS): $(BUILD)/flags test/lib/compile.sh
$(BUILD)/%: %.c
	test/lib/compile.sh $@ $< '$(CC)' $(CFLAGS)
$(BUILD)/%: %.cpp
	test/lib/compile.sh $@ $< '$(CC)' $(CFLAGS)

$(DEMO): test/demo/client.c test/demo/books.h test/recipes/server.c \
    timingwheel.h $(BUILD)/flags
	$(CC) -std=gnu99 $(CFLAGS) -I. -o $@ $<

# The engines with threads need C11 and -pthread. The engines of libraries whose
# headers are missing compile to nothing; BENCH_LIBS is for engines of yours.
BENCH_SOURCES = $(wildcard bench/*.c bench/engines/*.c)
$(BUILD)/bench/timers: $(wildcard bench/*.[ch] bench/engines/*.[ch]) \
    timingwheel.h $(BUILD)/flags $(wildcard $(BUILD)/bench/sources/ext)
	@mkdir -p $(@D)
	$(CC) -std=c11 -pthread $(CFLAGS) -isystem $(BUILD)/bench/sources -o $@ \
	    $(BENCH_SOURCES) $(BENCH_LIBS)

# This changes only when the compiler or its flags do.
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' >$@

.PHONY: help all demo test quick format check $(CHECKS:%=check-%) fuzz \
	coverage mutate bench bench-publish install uninstall clean FORCE \
	deps $(KINDS:%=deps-%)
