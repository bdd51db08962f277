// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_GATHER_GATHER_H_
#define KERNELS_GATHER_GATHER_H_

#include "kernels/common/types.h"

typedef struct pl_gather_params pl_gather_params;  // none: null

typedef struct {
  int32_t outer;       // parts of the input with the same indices
  int32_t outer_step;  // bytes of each
  int32_t rows;
  int32_t runs;
} pl_gather_dims;

typedef struct {
  const void *input;
  const int32_t *rows;  // [rows], the bytes where each starts in its part of the input
  const int32_t *runs;  // [runs, 2], the bytes where each starts in a row, and how many they are
  void *output;
} pl_gather_data;

// Writes the runs of each row of each part consecutively. Elements of any size.
PL_MUST_USE pl_status pl_gather_x8(const pl_context *ctx, const pl_gather_params *params,
                                   const pl_gather_dims *dims, const pl_gather_data *data);

#endif  // KERNELS_GATHER_GATHER_H_
