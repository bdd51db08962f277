// SPDX-License-Identifier: Apache-2.0
// Runs generated kernel test cases: see kernels/testing/generate.py.
#ifndef KERNELS_TESTING_RUNNER_H_
#define KERNELS_TESTING_RUNNER_H_

#include "kernels/common/types.h"

// Bytes around every output and scratch area that a kernel must leave alone.
#define PL_TEST_GUARD 32

typedef pl_status (*pl_test_run_fn)(const pl_context *ctx, const void *params, const void *dims,
                                    const void *data);

// One expected output. Float32 results may differ by tolerance * max(1, |expected|).
typedef struct {
  uint8_t *address;
  uint32_t bytes;
  const void *expected;
  const void *initial;  // what the output holds before the call, for calls in place; may be null
  int is_float;
  float tolerance;
} pl_test_output;

typedef struct {
  const char *name;
  pl_test_run_fn run;
  const void *params;
  const void *dims;
  const void *data;
  const pl_test_output *outputs;
  uint32_t output_count;
  uint8_t *scratch;
  uint32_t scratch_bytes;
} pl_test_case;

// Runs all cases in memory of `arena_bytes` at `arena`, which holds outputs and scratch. Prints a
// line for each failure and a last line, and ends the program.
_Noreturn void pl_test_main(const pl_test_case *cases, uint32_t count, uint8_t *arena,
                            uint32_t arena_bytes);

#endif  // KERNELS_TESTING_RUNNER_H_
