// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/gemm_s8.h"
#include "kernels/common/requantize_mve.h"

#define CHANNELS 4

// Sums of products of a row and the rows of four channels.
static inline int32x4_t multiply(const int8_t *x, const int8_t *const weight[CHANNELS],
                                 int32_t depth) {
  const int8_t *w0 = weight[0];
  const int8_t *w1 = weight[1];
  const int8_t *w2 = weight[2];
  const int8_t *w3 = weight[3];
  int32_t sum0 = 0;
  int32_t sum1 = 0;
  int32_t sum2 = 0;
  int32_t sum3 = 0;
  while (depth > 0) {
    const mve_pred16_t p = vctp8q((uint32_t)depth);
    const int8x16_t xs = vldrbq_z_s8(x, p);
    sum0 = vmladavaq_s8(sum0, xs, vldrbq_z_s8(w0, p));
    sum1 = vmladavaq_s8(sum1, xs, vldrbq_z_s8(w1, p));
    sum2 = vmladavaq_s8(sum2, xs, vldrbq_z_s8(w2, p));
    sum3 = vmladavaq_s8(sum3, xs, vldrbq_z_s8(w3, p));
    x += 16;
    w0 += 16;
    w1 += 16;
    w2 += 16;
    w3 += 16;
    depth -= 16;
  }
  int32x4_t sums = vdupq_n_s32(sum0);
  sums = vsetq_lane_s32(sum1, sums, 1);
  sums = vsetq_lane_s32(sum2, sums, 2);
  return vsetq_lane_s32(sum3, sums, 3);
}

void pl_gemm_s8(const pl_gemm_s8_layer *layer, int32_t rows, const int8_t *x, int32_t x_stride,
                int8_t *y, int32_t y_stride) {
  const int32_t depth = layer->depth;
  for (int32_t channel = 0; channel < layer->channels; channel += CHANNELS) {
    const int32_t left = layer->channels - channel;
    const mve_pred16_t p = vctp32q((uint32_t)left);
    // After the last channel, the last one is computed again and not stored.
    const int8_t *first = layer->weight + channel * depth;
    const int8_t *const weight[CHANNELS] = {
        first,
        first + (left > 1 ? 1 : left - 1) * depth,
        first + (left > 2 ? 2 : left - 1) * depth,
        first + (left > 3 ? 3 : left - 1) * depth,
    };
    const int32x4_t bias = vldrwq_z_s32(layer->bias + channel, p);
    const pl_factors_mve factors =
        pl_load_factors_mve(layer->output.multiplier + channel, layer->output.shift + channel, p);
    for (int32_t row = 0; row < rows; ++row) {
      const int32x4_t sums = multiply(x + row * x_stride, weight, depth);
      const int32x4_t value = pl_requantize_mve(vaddq_s32(sums, bias), factors);
      vstrbq_p_s32(y + row * y_stride + channel, pl_narrow_mve(value, &layer->output), p);
    }
  }
}
