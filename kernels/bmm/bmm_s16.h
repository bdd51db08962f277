// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_BMM_BMM_S16_H_
#define KERNELS_BMM_BMM_S16_H_

#include "kernels/bmm/bmm.h"

typedef pl_bmm_params pl_bmm_s16_params;  // all zero points are 0, shift is at most 14
typedef pl_bmm_dims pl_bmm_s16_dims;      // depth is at most 2^16

typedef struct {
  const int16_t *a;
  const int16_t *b;
  int16_t *output;
} pl_bmm_s16_data;

// Same as pl_bmm_s8, for int16, with 64-bit sums rounded once (kernels/common/wide.h). No scratch.
PL_MUST_USE pl_status pl_bmm_s16(const pl_context *ctx, const pl_bmm_s16_params *params,
                                 const pl_bmm_s16_dims *dims, const pl_bmm_s16_data *data);

#endif  // KERNELS_BMM_BMM_S16_H_
