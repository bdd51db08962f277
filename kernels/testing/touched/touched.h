// SPDX-License-Identifier: Apache-2.0
// Memory touched by calls of kernels, and the order of accesses: see touched.py.
#ifndef KERNELS_TESTING_TOUCHED_TOUCHED_H_
#define KERNELS_TESTING_TOUCHED_TOUCHED_H_

#include "kernels/common/types.h"

#define PL_TOUCHED_ARENA_BYTES (1u << 17)
#define PL_TOUCHED_GUARD 64

extern uint8_t pl_touched_arena[PL_TOUCHED_ARENA_BYTES];

// An operand in the arena, between guards.
typedef struct {
  uint32_t offset;
  uint32_t bytes;
  const void *contents;  // null for outputs and scratch
} pl_touched_operand;

typedef struct {
  pl_status (*run)(const pl_context *context);
  const pl_touched_operand *operands;
  uint32_t count;
  const uint32_t (*pairs)[2];  // indices of a source, and of a result aliasing it
  uint32_t pair_count;
  uint32_t scratch;  // its offset
  uint32_t scratch_bytes;
} pl_touched_call;

// Runs a call and prints a line: the status, the bounds of the reads and writes of each operand,
// and for each pair the largest unsafe distance, and 1 if 0 is unsafe.
void pl_touched_run(const pl_touched_call *call);

#endif  // KERNELS_TESTING_TOUCHED_TOUCHED_H_
