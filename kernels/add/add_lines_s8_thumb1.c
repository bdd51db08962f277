// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/add_lines.h"

pl_status pl_add_lines_s8(const pl_context *ctx, const pl_add_lines_params *params,
                          const pl_add_lines_dims *dims, const pl_add_lines_data *data) {
  (void)ctx;
  const int32_t a_slope = params->a_slope;
  const int32_t b_slope = params->b_slope;
  const int32_t start = params->start;
  const int32_t minimum = params->activation_min;
  const int32_t maximum = params->activation_max;
  const int8_t *b = data->b;
  int8_t *output = data->output;
  for (const int8_t *a = data->a, *end = a + dims->size; a != end; ++a) {
    int32_t value = (*a * a_slope + *b++ * b_slope + start) >> PL_ADD_LINES_BITS;
    if (value < minimum) value = minimum;
    if (value > maximum) value = maximum;
    *output++ = (int8_t)value;
  }
  return PL_OK;
}
