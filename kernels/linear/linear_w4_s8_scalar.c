// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/linear/linear_w4.h"

static inline int32_t low(int32_t byte) { return (int32_t)((uint32_t)byte << 28) >> 28; }

static inline int32_t high(int32_t byte) { return byte >> 4; }

// sum_k x[k] * weight[k] for k in [0, count). `weight` moves on to the byte after them.
static inline int32_t dot(const int8_t *x, const int8_t **weight, int32_t count) {
  const int8_t *w = *weight;
  int32_t sum = 0;
  for (const int8_t *end = x + (count & ~1); x != end; x += 2) {
    const int32_t byte = *w++;
    sum += x[0] * low(byte);
    sum += x[1] * high(byte);
  }
  if (count & 1) sum += x[0] * low(*w++);
  *weight = w;
  return sum;
}

pl_status pl_linear_w4_s8(const pl_context *ctx, const pl_linear_w4_params *params,
                          const pl_linear_w4_dims *dims, const pl_linear_w4_data *data) {
  (void)ctx;
  const pl_linear_w4_params p = *params;
  const int32_t depth = dims->input_channels;
  const int8_t *row = data->input;
  int8_t *output = data->output;
  for (int32_t left = dims->rows; left > 0; --left, row += depth) {
    const int8_t *weight = data->weight;
    const int8_t *scale = data->group_scale;
    for (int32_t o = 0; o < dims->output_channels; ++o) {
      int32_t sum = data->bias[o];
      for (int32_t begin = 0; begin < depth; begin += dims->group) {
        const int32_t size = depth - begin < dims->group ? depth - begin : dims->group;
        sum += *scale++ * dot(row + begin, &weight, size);
      }
      *output++ = pl_narrow(pl_requantize(sum, data->multiplier[o], data->shift[o]),
                            p.output_zero_point, p.activation_min, p.activation_max);
    }
  }
  return PL_OK;
}
