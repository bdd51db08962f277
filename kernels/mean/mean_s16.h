// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MEAN_MEAN_S16_H_
#define KERNELS_MEAN_MEAN_S16_H_

#include "kernels/mean/mean.h"

typedef pl_mean_params pl_mean_s16_params;  // offset and zero point are 0
typedef pl_mean_dims pl_mean_s16_dims;

typedef struct {
  const int16_t *input;
  int16_t *output;
} pl_mean_s16_data;

// pl_mean_s8 for int16. TFLite int16 MEAN.
PL_MUST_USE pl_status pl_mean_s16(const pl_context *ctx, const pl_mean_s16_params *params,
                                  const pl_mean_s16_dims *dims, const pl_mean_s16_data *data);

#endif  // KERNELS_MEAN_MEAN_S16_H_
