// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided_copy/strided_copy.h"

pl_status pl_strided_copy_x16(const pl_context *ctx, const pl_strided_copy_params *params,
                              const pl_strided_copy_dims *dims, const pl_strided_copy_data *data) {
  (void)ctx;
  (void)params;
  const uint16_t *input = data->input;
  uint16_t *output = data->output;
  const int32_t input_step = dims->input_stride[PL_MAX_RANK - 1];
  const int32_t output_step = dims->output_stride[PL_MAX_RANK - 1];
  pl_strided_row row = {.input = dims->input_offset, .output = dims->output_offset};
  do {
    const uint16_t *from = input + row.input;
    uint16_t *to = output + row.output;
    for (int32_t left = dims->size[PL_MAX_RANK - 1]; left > 0; --left) {
      *to = *from;
      from += input_step;
      to += output_step;
    }
  } while (pl_strided_next(dims, &row));
  return PL_OK;
}
