// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_NORMALIZE_NORMALIZE_S16_H_
#define KERNELS_NORMALIZE_NORMALIZE_S16_H_

#include "kernels/normalize/normalize.h"

typedef pl_normalize_params pl_normalize_s16_params;  // the center is 0
typedef pl_normalize_dims pl_normalize_s16_dims;      // the count below 2^15

typedef struct {
  const int16_t *input;
  const int32_t *affine;  // [channels, 2]: weight, and bias with half a step
  int16_t *output;        // may be the input
} pl_normalize_s16_data;

// pl_normalize_s8 for int16: every deviation is multiplied by the root in 64 bits.
PL_MUST_USE pl_status pl_normalize_s16(const pl_context *ctx, const pl_normalize_s16_params *params,
                                       const pl_normalize_s16_dims *dims,
                                       const pl_normalize_s16_data *data);

#endif  // KERNELS_NORMALIZE_NORMALIZE_S16_H_
