// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/svdf/filters.h"

static inline int32_t add_inputs(const int8_t *input, const int8_t *weight, int32_t size,
                                 int32_t sum) {
  for (const int8_t *end = input + (size & ~3); input != end; input += 4, weight += 4) {
    const int8x4_t x = pl_load_4(input);
    const int8x4_t w = pl_load_4(weight);
    sum = __smlad(pl_even_s16(x), pl_even_s16(w), sum);
    sum = __smlad(pl_odd_s16(x), pl_odd_s16(w), sum);
  }
  for (const int8_t *end = input + (size & 3); input != end;) sum += *input++ * *weight++;
  return sum;
}

static inline uint32_t add_frames(const int16_t *state, const int16_t *time, int32_t frames,
                                  int16_t *new_state, uint32_t sum) {
  for (const int16_t *end = state + (frames & ~1); state != end;) {
    int16x2_t two, weights;
    __builtin_memcpy(&two, state, sizeof(two));
    __builtin_memcpy(&weights, time, sizeof(weights));
    sum = (uint32_t)__smlad(two, weights, (int32_t)sum);
    __builtin_memcpy(new_state, &two, sizeof(two));
    state += 2;
    time += 2;
    new_state += 2;
  }
  if ((frames & 1) != 0) {
    sum += (uint32_t)(*state * *time);
    *new_state = *state;
  }
  return sum;
}

pl_status pl_svdf_s8(const pl_context *ctx, const pl_svdf_params *params, const pl_svdf_dims *dims,
                     const pl_svdf_data *data) {
  (void)ctx;
  return pl_svdf_run(params, dims, data, add_inputs, add_frames);
}
