// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MUL_MUL_S16_H_
#define KERNELS_MUL_MUL_S16_H_

#include "kernels/mul/mul.h"

typedef pl_mul_params pl_mul_s16_params;  // all zero points are 0
typedef pl_mul_dims pl_mul_s16_dims;

typedef struct {
  const int16_t *a;
  const int16_t *b;
  int16_t *output;  // may alias a, or b if that does not repeat
} pl_mul_s16_data;

// pl_mul_s8 for int16. TFLite int16 MUL.
PL_MUST_USE pl_status pl_mul_s16(const pl_context *ctx, const pl_mul_s16_params *params,
                                 const pl_mul_s16_dims *dims, const pl_mul_s16_data *data);

// pl_mul_s16 for shifts in [-20, -1] with the same result for 2^30 and 2^30 - 1.
PL_MUST_USE pl_status pl_mul_down_s16(const pl_context *ctx, const pl_mul_s16_params *params,
                                      const pl_mul_s16_dims *dims, const pl_mul_s16_data *data);

#endif  // KERNELS_MUL_MUL_S16_H_
