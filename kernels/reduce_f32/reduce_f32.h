// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_REDUCE_F32_REDUCE_F32_H_
#define KERNELS_REDUCE_F32_REDUCE_F32_H_

#include "kernels/common/reduction.h"
#include "kernels/common/types.h"

typedef struct pl_reduce_f32_params pl_reduce_f32_params;  // none: null

typedef pl_reduction_dims pl_reduce_f32_dims;

typedef struct {
  const float *input;
  float *output;
} pl_reduce_f32_data;

// Sum in float32, one value after the other.
PL_MUST_USE pl_status pl_sum_f32(const pl_context *ctx, const pl_reduce_f32_params *params,
                                 const pl_reduce_f32_dims *dims, const pl_reduce_f32_data *data);

// The largest and the smallest value; NaN if there is one.
PL_MUST_USE pl_status pl_amax_f32(const pl_context *ctx, const pl_reduce_f32_params *params,
                                  const pl_reduce_f32_dims *dims, const pl_reduce_f32_data *data);
PL_MUST_USE pl_status pl_amin_f32(const pl_context *ctx, const pl_reduce_f32_params *params,
                                  const pl_reduce_f32_dims *dims, const pl_reduce_f32_data *data);

#endif  // KERNELS_REDUCE_F32_REDUCE_F32_H_
