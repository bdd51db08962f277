// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_ADD_ADD_S16_H_
#define KERNELS_ADD_ADD_S16_H_

#include "kernels/add/add.h"

typedef pl_add_params pl_add_s16_params;  // all zero points are 0
typedef pl_add_dims pl_add_s16_dims;

typedef struct {
  const int16_t *a;
  const int16_t *b;
  int16_t *output;  // may alias a, or b if that does not repeat
} pl_add_s16_data;

// Same as pl_add_s8, for int16. TFLite int16 ADD.
PL_MUST_USE pl_status pl_add_s16(const pl_context *ctx, const pl_add_s16_params *params,
                                 const pl_add_s16_dims *dims, const pl_add_s16_data *data);

// The same if all shifts are below 0, that of the output at least -20, or an operand is halved
// (multiplier 2^30, shift 0). No sum of scaled operands may be below -2^30 or above 2^30 - 1.
PL_MUST_USE pl_status pl_add_down_s16(const pl_context *ctx, const pl_add_s16_params *params,
                                      const pl_add_s16_dims *dims, const pl_add_s16_data *data);

#endif  // KERNELS_ADD_ADD_S16_H_
