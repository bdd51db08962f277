// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_GROUP_NORM_F32_GROUP_NORM_F32_H_
#define KERNELS_GROUP_NORM_F32_GROUP_NORM_F32_H_

#include "kernels/common/types.h"

typedef struct {
  float epsilon;
} pl_group_norm_f32_params;

typedef struct {
  int32_t batches;
  int32_t groups;
  int32_t group_channels;
  int32_t pixels;
} pl_group_norm_f32_dims;

typedef struct {
  const float *input;   // [batches, groups, group_channels, pixels]
  const float *weight;  // [groups, group_channels], or null for 1
  const float *bias;    // [groups, group_channels], or null for 0
  float *output;        // [batches, groups, group_channels, pixels]
  float *mean;          // [batches, groups]
  float *rstd;          // [batches, groups]: 1 / sqrt(variance + epsilon)
} pl_group_norm_f32_data;

// output = (input - mean) * rstd * weight + bias, in float32. Mean and variance (biased) are those
// of each group of an image. torch's native_group_norm; channels come before pixels, same as in
// torch.
PL_MUST_USE pl_status pl_group_norm_f32(const pl_context *ctx,
                                        const pl_group_norm_f32_params *params,
                                        const pl_group_norm_f32_dims *dims,
                                        const pl_group_norm_f32_data *data);

#endif  // KERNELS_GROUP_NORM_F32_GROUP_NORM_F32_H_
