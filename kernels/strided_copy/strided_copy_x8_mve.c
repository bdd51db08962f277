// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>
#include <stdbool.h>

#include "kernels/common/copy.h"
#include "kernels/strided_copy/strided_copy.h"

// Offsets of eight elements are 16 bits without a sign.
#define MOST_STEP (UINT16_MAX / 7)

static bool is_near(int32_t step) { return step >= 0 && step <= MOST_STEP; }

// Eight elements at a time: GATHER and SCATTER are loads and stores too, of a lane each.
static void copy_row(const int8_t *from, int32_t from_step, int8_t *to, int32_t to_step,
                     int32_t size) {
  const uint16x8_t lane = vidupq_n_u16(0, 1);
  const uint16x8_t from_offsets = vmulq_n_u16(lane, (uint16_t)from_step);
  const uint16x8_t to_offsets = vmulq_n_u16(lane, (uint16_t)to_step);
  if (to_step == 1) {
    for (; size > 0; size -= 8) {
      const mve_pred16_t lanes = vctp16q((uint32_t)size);
      vstrbq_p_s16(to, vldrbq_gather_offset_z_s16(from, from_offsets, lanes), lanes);
      from += 8 * from_step;
      to += 8;
    }
    return;
  }
  for (; size > 0; size -= 8) {
    const mve_pred16_t lanes = vctp16q((uint32_t)size);
    const int16x8_t values = vldrbq_gather_offset_z_s16(from, from_offsets, lanes);
    vstrbq_scatter_offset_p_s16(to, to_offsets, values, lanes);
    from += 8 * from_step;
    to += 8 * to_step;
  }
}

static void copy_far_row(const int8_t *from, int32_t from_step, int8_t *to, int32_t to_step,
                         int32_t size) {
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
    } else if (is_near(input_step) && is_near(output_step)) {
      copy_row(input + row.input, input_step, output + row.output, output_step, size);
    } else {
      copy_far_row(input + row.input, input_step, output + row.output, output_step, size);
    }
  } while (pl_strided_next(dims, &row));
  return PL_OK;
}
