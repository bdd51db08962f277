// SPDX-License-Identifier: Apache-2.0
//
// The host does not measure its stack.
#include "boards/common/stack.h"

#include <stdbool.h>
#include <stdint.h>

uint32_t pl_stack_size(void) { return 0; }

void pl_stack_paint(void) {}

uint32_t pl_stack_used(void) { return 0; }

bool pl_stack_overflowed(void) { return false; }
