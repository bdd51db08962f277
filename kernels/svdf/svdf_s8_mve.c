// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/svdf/filters.h"

static inline int32_t add_inputs(const int8_t *input, const int8_t *weight, int32_t size,
                                 int32_t sum) {
  for (; size > 0; size -= 16) {
    const mve_pred16_t p = vctp8q((uint32_t)size);
    sum = vmladavaq_p_s8(sum, vldrbq_z_s8(input, p), vldrbq_z_s8(weight, p), p);
    input += 16;
    weight += 16;
  }
  return sum;
}

// A vector is loaded before the one below it is stored.
static inline uint32_t add_frames(const int16_t *state, const int16_t *time, int32_t frames,
                                  int16_t *new_state, uint32_t sum) {
  int32_t products = (int32_t)sum;
  for (; frames > 0; frames -= 8) {
    const mve_pred16_t p = vctp16q((uint32_t)frames);
    const int16x8_t eight = vldrhq_z_s16(state, p);
    products = vmladavaq_p_s16(products, eight, vldrhq_z_s16(time, p), p);
    vstrhq_p_s16(new_state, eight, p);
    state += 8;
    time += 8;
    new_state += 8;
  }
  return (uint32_t)products;
}

pl_status pl_svdf_s8(const pl_context *ctx, const pl_svdf_params *params, const pl_svdf_dims *dims,
                     const pl_svdf_data *data) {
  (void)ctx;
  return pl_svdf_run(params, dims, data, add_inputs, add_frames);
}
