// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/integer/integer.h"

pl_status pl_integer_quantize_s16(const pl_context *ctx, const pl_integer_params *params,
                                  const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  const pl_integer_params p = *params;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t *a = data->a;
  int16_t *output = data->output;
  for (int32_t i = 0; i < size; ++i) {
    output[i] = (int16_t)pl_clamp(pl_requantize(a[i], p.multiplier, p.shift), INT16_MIN, INT16_MAX);
  }
  return PL_OK;
}
