// SPDX-License-Identifier: Apache-2.0
#include "kernels/svdf/filters.h"

static inline int32_t add_inputs(const int8_t *input, const int8_t *weight, int32_t size,
                                 int32_t sum) {
  for (int32_t i = 0; i < size; ++i) sum += input[i] * weight[i];
  return sum;
}

static inline uint32_t add_frames(const int16_t *state, const int16_t *time, int32_t frames,
                                  int16_t *new_state, uint32_t sum) {
  for (int32_t j = 0; j < frames; ++j) {
    sum += (uint32_t)(state[j] * time[j]);
    new_state[j] = state[j];
  }
  return sum;
}

pl_status pl_svdf_s8(const pl_context *ctx, const pl_svdf_params *params, const pl_svdf_dims *dims,
                     const pl_svdf_data *data) {
  (void)ctx;
  return pl_svdf_run(params, dims, data, add_inputs, add_frames);
}
