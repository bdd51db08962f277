// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dots_s16.h"
#include "kernels/linear/linear_s16.h"

pl_status pl_linear_blocks_s16(const pl_context *ctx, const pl_linear_s16_params *params,
                               const pl_linear_s16_dims *dims, const pl_linear_s16_data *data) {
  (void)ctx;
  const pl_dots_window row = {
      .rows = 1,
      .columns = 1,
      .count = dims->input_channels,
      .channels = dims->output_channels,
      .weights = dims->input_channels,
      .minimum = params->activation_min,
      .maximum = params->activation_max,
  };
  const int16_t *x = data->input;
  int16_t *output = data->output;
  for (int32_t rows = dims->rows; rows > 0; --rows) {
    pl_dots_s16(&row, x, data->weight, data->bias, output);
    x += dims->input_channels;
    output += dims->output_channels;
  }
  return PL_OK;
}
