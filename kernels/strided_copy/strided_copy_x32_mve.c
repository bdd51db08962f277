// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/copy.h"
#include "kernels/strided_copy/strided_copy.h"

// Four elements at a time: a gather and a scatter.
static void copy_row(const uint32_t *from, int32_t from_step, uint32_t *to, int32_t to_step,
                     int32_t size) {
  const uint32x4_t lane = vidupq_n_u32(0, 1);
  const uint32x4_t from_offsets = vmulq_n_u32(lane, (uint32_t)from_step);
  const uint32x4_t to_offsets = vmulq_n_u32(lane, (uint32_t)to_step);
  for (; size > 0; size -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)size);
    const uint32x4_t values = vldrwq_gather_shifted_offset_z_u32(from, from_offsets, lanes);
    vstrwq_scatter_shifted_offset_p_u32(to, to_offsets, values, lanes);
    from += 4 * from_step;
    to += 4 * to_step;
  }
}

pl_status pl_strided_copy_x32(const pl_context *ctx, const pl_strided_copy_params *params,
                              const pl_strided_copy_dims *dims, const pl_strided_copy_data *data) {
  (void)ctx;
  (void)params;
  const uint32_t *input = data->input;
  uint32_t *output = data->output;
  const int32_t size = dims->size[PL_MAX_RANK - 1];
  const int32_t input_step = dims->input_stride[PL_MAX_RANK - 1];
  const int32_t output_step = dims->output_stride[PL_MAX_RANK - 1];
  pl_strided_row row = {.input = dims->input_offset, .output = dims->output_offset};
  do {
    if (input_step == 1 && output_step == 1) {
      pl_copy_bytes((int8_t *)(output + row.output), (const int8_t *)(input + row.input), 4 * size);
    } else {
      copy_row(input + row.input, input_step, output + row.output, output_step, size);
    }
  } while (pl_strided_next(dims, &row));
  return PL_OK;
}
