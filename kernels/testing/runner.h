// SPDX-License-Identifier: Apache-2.0
// Runs generated kernel test cases: see kernels/testing/generate.py.
#ifndef KERNELS_TESTING_RUNNER_H_
#define KERNELS_TESTING_RUNNER_H_

#include "kernels/common/types.h"

// Outputs and scratch of a case share one arena, with guard bytes between them. A kernel must not
// change the guard bytes (kernels/testing/program.py).
#define PL_TEST_ARENA_BYTES 8192
extern uint8_t pl_test_arena[PL_TEST_ARENA_BYTES];

typedef pl_status (*pl_test_run_fn)(const pl_context *ctx, const void *params, const void *dims,
                                    const void *data);

// One expected output. Float32 results may differ by tolerance * max(floor, |expected|).
typedef struct {
  uint8_t *address;
  uint32_t bytes;
  const void *expected;
  int is_float;
  float tolerance;
  float floor;
} pl_test_output;

// An input in the arena, because it shares memory with an output. Where it does not, it must stay.
typedef struct {
  uint8_t *address;
  uint32_t bytes;
  const void *contents;
} pl_test_input;

typedef struct {
  const char *name;
  pl_test_run_fn run;
  const void *params;
  const void *dims;
  const void *data;
  const pl_test_output *outputs;
  uint32_t output_count;
  const pl_test_input *shared;  // may be null
  uint8_t *scratch;
  uint32_t scratch_bytes;
  const void *closed;  // 32 bytes next to an operand, closed to calls; may be null
} pl_test_case;

// Closes 32 bytes to all accesses, or opens them again if null, on boards with a memory protection
// unit. An access ends the program.
void pl_test_close(const void *bytes);

// Runs all cases. Prints a line for each failure and a last line, and returns main's result.
int pl_test_main(const pl_test_case *cases, uint32_t count);

#endif  // KERNELS_TESTING_RUNNER_H_
