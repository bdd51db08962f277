// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_BMM_F32_BMM_F32_H_
#define KERNELS_BMM_F32_BMM_F32_H_

#include "kernels/common/types.h"

typedef struct pl_bmm_f32_params pl_bmm_f32_params;  // none: null

typedef struct {
  int32_t batches;
  int32_t rows;
  int32_t depth;
  int32_t columns;
} pl_bmm_f32_dims;

typedef struct {
  const float *a;  // [batches, rows, depth]
  const float *b;  // [batches, depth, columns]
  float *output;   // [batches, rows, columns]
} pl_bmm_f32_data;

// output = a * b for each batch, in float32; sums run over depth in order. torch's bmm.
PL_MUST_USE pl_status pl_bmm_f32(const pl_context *ctx, const pl_bmm_f32_params *params,
                                 const pl_bmm_f32_dims *dims, const pl_bmm_f32_data *data);

#endif  // KERNELS_BMM_F32_BMM_F32_H_
