// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/copy.h"
#include "kernels/strided_copy/strided_copy.h"

static void copy_row(const int8_t *from, int32_t from_step, int8_t *to, int32_t to_step,
                     int32_t size) {
  for (; size >= 4; size -= 4) {
    to[0] = from[0];
    to[to_step] = from[from_step];
    from += 2 * from_step;
    to += 2 * to_step;
    to[0] = from[0];
    to[to_step] = from[from_step];
    from += 2 * from_step;
    to += 2 * to_step;
  }
  for (; size > 0; --size, from += from_step, to += to_step) *to = *from;
}

pl_status pl_strided_copy_x8(const pl_context *ctx, const pl_strided_copy_params *params,
                             const pl_strided_copy_dims *dims, const pl_strided_copy_data *data) {
  (void)ctx;
  (void)params;
  const int8_t *input = data->input;
  int8_t *output = data->output;
  const int32_t size = dims->size[PL_MAX_RANK - 1];
  const int32_t input_step = dims->input_stride[PL_MAX_RANK - 1];
  const int32_t output_step = dims->output_stride[PL_MAX_RANK - 1];
  pl_strided_row row = {.input = dims->input_offset, .output = dims->output_offset};
  do {
    if (input_step == 1 && output_step == 1) {
      pl_copy_bytes(output + row.output, input + row.input, size);
    } else {
      copy_row(input + row.input, input_step, output + row.output, output_step, size);
    }
  } while (pl_strided_next(dims, &row));
  return PL_OK;
}
