// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/integer/integer.h"

pl_status pl_integer_quantize(const pl_context *ctx, const pl_integer_params *params,
                              const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  const pl_integer_params p = *params;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t *a = data->a;
  int8_t *output = data->output;
  for (int32_t i = 0; i < size; ++i) {
    output[i] = pl_narrow(pl_requantize(a[i], p.multiplier, p.shift), p.output_zero_point, INT8_MIN,
                          INT8_MAX);
  }
  return PL_OK;
}
