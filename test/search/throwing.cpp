// throwing.cpp - random.c in C++, where callbacks and visitors throw at random.
// The exception passes through the call, which counts as stopped after the
// timer. The timers that a tw_drain leaves behind fire in time. Without the
// builtins of the compiler, which random.c has.
//
//     .build/throwing [--seed S] [--operations N] [--round R]
//
// SPDX-License-Identifier: MIT
#define TWI_PORTABLE
#define OPERATIONS_BY_DEFAULT 300000
#include "random.c"
