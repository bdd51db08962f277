// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dots_mve.h"
#include "kernels/common/dots_s16.h"
#include "kernels/linear/linear_s16.h"

pl_status pl_linear_blocks_s16(const pl_context *ctx, const pl_linear_s16_params *params,
                               const pl_linear_s16_dims *dims, const pl_linear_s16_data *data) {
  (void)ctx;
  const int32_t depth = dims->input_channels;
  const int32_t channels = dims->output_channels;
  const pl_dots_steps steps = pl_dots_steps_of(channels, depth);
  const int32x4_t minimum = vdupq_n_s32(params->activation_min);
  const int32x4_t maximum = vdupq_n_s32(params->activation_max);
  const mve_pred16_t lanes = vctp32q((uint32_t)channels);
  const int16_t *row = data->input;
  int16_t *output = data->output;
  for (int32_t rows = dims->rows; rows > 0; --rows) {
    const int8_t *weight = data->weight;
    const int32_t *factors = data->bias;
    int32_t left = channels;
    int16_t *y = output;
    for (;;) {
      pl_dots dots = {0};
      pl_dots_at(&dots, row, weight, steps);
      pl_dots_run(&dots, depth);
      vstrhq_p_s32(y, pl_dots_result(&dots, factors, minimum, maximum), lanes);
      if (left <= PL_DOTS) break;
      factors += PL_DOTS_FACTORS;
      left -= PL_DOTS;
      const int32_t next = left < PL_DOTS ? left : PL_DOTS;
      weight += next * depth;
      y += next;
    }
    row += depth;
    output += channels;
  }
  return PL_OK;
}
