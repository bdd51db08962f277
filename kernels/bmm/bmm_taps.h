// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_BMM_BMM_TAPS_H_
#define KERNELS_BMM_BMM_TAPS_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

typedef struct {
  int32_t a_zero_point;
  int32_t b_zero_point;
  int32_t first;  // the sum where the last stage begins, see kernels/common/gemm_taps_s8.h
  int32_t activation_min;
  int32_t activation_max;
} pl_bmm_taps_params;

typedef struct {
  pl_broadcast_dims batch;  // as in bmm.h
  int32_t rows;
  int32_t depth;
  int32_t columns;
  int32_t a_row_stride;
  int32_t b_depth_stride;
  int32_t b_column_stride;
  int32_t expanded;  // columns expanded together
} pl_bmm_taps_dims;

typedef struct {
  const int8_t *a;
  const int8_t *b;
  const int32_t *stage;  // [PL_TAPS_SIGNED_STAGE - 1]: of all columns, without a bias
  int8_t *output;
} pl_bmm_taps_data;

// pl_bmm_s8 on cores with 16-bit Thumb instructions, for factors that kernels/common/steps.py has
// constants for. Scratch holds two rows and a block of columns in words; `depth` is rounded up to a
// multiple of 4.
PL_MUST_USE pl_status pl_bmm_taps_s8(const pl_context *ctx, const pl_bmm_taps_params *params,
                                     const pl_bmm_taps_dims *dims, const pl_bmm_taps_data *data);

#endif  // KERNELS_BMM_BMM_TAPS_H_
