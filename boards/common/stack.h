// SPDX-License-Identifier: Apache-2.0
//
// Measures the stack: the start-up code paints it, and overwritten paint marks used stack.
#ifndef BOARDS_COMMON_STACK_H_
#define BOARDS_COMMON_STACK_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Size of the board's stack in bytes.
uint32_t pl_stack_size(void);

// Paints the unused part of the stack. The start-up code calls it.
void pl_stack_paint(void);

// Bytes of stack used so far, at the deepest.
uint32_t pl_stack_used(void);

// Returns true if the lowest words of the stack were written: it overflowed, or was about to.
bool pl_stack_overflowed(void);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_COMMON_STACK_H_
