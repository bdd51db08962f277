// SPDX-License-Identifier: Apache-2.0
// Pointwise functions of float32. They use only IEEE arithmetic and integers, so they give the same
// bits on every core. For their accuracy see cases.py.
#ifndef KERNELS_UNARY_F32_UNARY_F32_H_
#define KERNELS_UNARY_F32_UNARY_F32_H_

#include "kernels/common/types.h"

typedef struct pl_unary_f32_params pl_unary_f32_params;  // none: null

typedef struct {
  int32_t size;
} pl_unary_f32_dims;

typedef struct {
  const float *input;  // [size]
  float *output;       // [size], may be the input
} pl_unary_f32_data;

#define PL_UNARY_F32(function)                                                             \
  PL_MUST_USE pl_status function(const pl_context *ctx, const pl_unary_f32_params *params, \
                                 const pl_unary_f32_dims *dims, const pl_unary_f32_data *data)

PL_UNARY_F32(pl_abs_f32);
PL_UNARY_F32(pl_neg_f32);
PL_UNARY_F32(pl_sign_f32);  // 0 for NaN, same as in torch

PL_UNARY_F32(pl_floor_f32);
PL_UNARY_F32(pl_ceil_f32);
PL_UNARY_F32(pl_trunc_f32);
PL_UNARY_F32(pl_round_f32);  // ties to even

PL_UNARY_F32(pl_sqrt_values_f32);
PL_UNARY_F32(pl_rsqrt_f32);
PL_UNARY_F32(pl_reciprocal_f32);

PL_UNARY_F32(pl_exp_f32);
PL_UNARY_F32(pl_expm1_f32);
PL_UNARY_F32(pl_sigmoid_f32);
PL_UNARY_F32(pl_tanh_f32);
PL_UNARY_F32(pl_erf_f32);

PL_UNARY_F32(pl_log_f32);
PL_UNARY_F32(pl_log1p_f32);

// For angles of any size.
PL_UNARY_F32(pl_sin_f32);
PL_UNARY_F32(pl_cos_f32);
PL_UNARY_F32(pl_atan_f32);

#endif  // KERNELS_UNARY_F32_UNARY_F32_H_
