// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide.h"
#include "kernels/linear/linear_s16.h"

pl_status pl_linear_s16(const pl_context *ctx, const pl_linear_s16_params *params,
                        const pl_linear_s16_dims *dims, const pl_linear_s16_data *data) {
  (void)ctx;
  const int32_t depth = dims->input_channels;
  const int32_t minimum = params->activation_min;
  const int32_t maximum = params->activation_max;
  const int16_t *row = data->input;
  int16_t *output = data->output;
  for (int32_t left = dims->rows; left > 0; --left, row += depth) {
    const int8_t *weight = data->weight;
    for (int32_t o = 0; o < dims->output_channels; ++o, weight += depth) {
      const int64_t sum = pl_wide_dot(data->bias[o], row, weight, depth);
      *output++ = pl_wide_narrow(sum, data->multiplier[o], data->shift[o], minimum, maximum);
    }
  }
  return PL_OK;
}
