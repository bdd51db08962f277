// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials_mve.h"
#include "kernels/common/requantize_mve.h"
#include "kernels/reduce/cumsum_row.h"

#define LANES 4

// Four rows, with `apart` between their values.
PL_INLINE void of_lanes(const pl_reduce_params *params, const pl_reduce_dims *dims, const int8_t *x,
                        int32_t apart, int32_t count, int8_t *output) {
  const pl_factors_mve factors = pl_same_factors_mve(params->multiplier, params->shift);
  const pl_output_stage stage = {
      .zero_point = params->output_zero_point,
      .activation_min = INT8_MIN,
      .activation_max = INT8_MAX,
  };
  const mve_pred16_t lanes = vctp32q((uint32_t)count);
  const uint32x4_t offsets = pl_offsets_mve(apart);
  const int32_t zero_point = params->input_zero_point;
  const int32_t step = dims->reduced_stride[2];
  const int32x4_t bits = vdupq_n_s32(params->fraction_bits);
  int32x4_t sum = vdupq_n_s32(0);
  for (int32_t left = dims->reduced[2]; left > 0; --left, x += step, output += step) {
    sum = vaddq_s32(sum, vsubq_n_s32(pl_load_row_mve(x, apart, offsets, lanes), zero_point));
    const int32x4_t y = pl_requantize_mve(vshlq_s32(sum, bits), factors);
    pl_store_row_mve(output, apart, offsets, pl_narrow_mve(y, &stage), lanes);
  }
}

pl_status pl_cumsum_s8(const pl_context *ctx, const pl_reduce_params *params,
                       const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  if (dims->kept[2] == 1) return pl_cumsum_rows(params, dims, data, pl_cumsum_row_s8);
  const int32_t apart = dims->kept_stride[2];
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int32_t start = i * dims->kept_stride[0] + j * dims->kept_stride[1];
      const int8_t *x = (const int8_t *)data->input + start;
      int8_t *output = (int8_t *)data->output + start;
      for (int32_t left = dims->kept[2]; left > 0; left -= LANES) {
        const int32_t count = left < LANES ? left : LANES;
        if (apart == 1) {
          of_lanes(params, dims, x, 1, count, output);
        } else {
          of_lanes(params, dims, x, apart, count, output);
        }
        x += LANES * apart;
        output += LANES * apart;
      }
    }
  }
  return PL_OK;
}
