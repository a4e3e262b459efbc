/* declarations.c - the declarations alone.
 *
 * SPDX-License-Identifier: MIT */
#include "../../timingwheel.h"
