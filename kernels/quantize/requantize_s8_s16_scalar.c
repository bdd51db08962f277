// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/requantize.h"

#include "kernels/common/requantize.h"

pl_status pl_requantize_s8_s16(const pl_context *ctx, const pl_requantize_params *params,
                               const pl_requantize_dims *dims, const pl_requantize_data *data) {
  (void)ctx;
  const pl_requantize_params p = *params;
  const int8_t *input = data->input;
  int16_t *output = data->output;
  for (int32_t left = dims->size; left > 0; --left) {
    const int32_t value = pl_requantize(*input++ - p.input_zero_point, p.multiplier, p.shift);
    *output++ = (int16_t)pl_clamp(value, INT16_MIN, INT16_MAX);
  }
  return PL_OK;
}
