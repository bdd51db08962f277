// SPDX-License-Identifier: Apache-2.0
// Sums and results of four values at a time.
#include "kernels/common/requantize_mve.h"
#include "kernels/scatter/scatter.h"

#define LANES 4

static inline void clear(int32_t *sums, int32_t size) {
  for (; size > 0; size -= LANES, sums += LANES) {
    vstrwq_p_s32(sums, vdupq_n_s32(0), vctp32q((uint32_t)size));
  }
}

static inline void add(int32_t *sums, const int8_t *values, int32_t size, int32_t zero_point) {
  for (; size > 0; size -= LANES, sums += LANES, values += LANES) {
    const mve_pred16_t lanes = vctp32q((uint32_t)size);
    const int32x4_t value = vsubq_n_s32(vldrbq_z_s32(values, lanes), zero_point);
    vstrwq_p_s32(sums, vaddq_s32(vldrwq_z_s32(sums, lanes), value), lanes);
  }
}

static inline void narrow(const pl_scatter_params *params, const int32_t *sums, int32_t size,
                          int8_t *output) {
  const pl_factors_mve factors = pl_same_factors_mve(params->multiplier, params->shift);
  const int32x4_t minimum = vdupq_n_s32(INT8_MIN);
  const int32x4_t maximum = vdupq_n_s32(INT8_MAX);
  const int32_t zero_point = params->output_zero_point;
  for (; size > 0; size -= LANES, sums += LANES, output += LANES) {
    const mve_pred16_t lanes = vctp32q((uint32_t)size);
    const int32x4_t y = pl_requantize_mve(vldrwq_z_s32(sums, lanes), factors);
    const int32x4_t least = vmaxq_s32(vqaddq_n_s32(y, zero_point), minimum);
    vstrbq_p_s32(output, vminq_s32(least, maximum), lanes);
  }
}

pl_status pl_scatter_sum_s8(const pl_context *ctx, const pl_scatter_params *params,
                            const pl_scatter_dims *dims, const pl_scatter_data *data) {
  const int32_t width = dims->width;
  const int32_t size = dims->rows * width;
  if (ctx->scratch_size < (uint32_t)size * sizeof(int32_t)) return PL_ERROR_SCRATCH_SIZE;
  int32_t *sums = ctx->scratch;
  clear(sums, size);
  const int8_t *values = data->values;
  for (int32_t i = 0; i < dims->count; ++i) {
    const int32_t index = data->indices[i];
    if (index < 0 || index >= dims->rows) return PL_ERROR_INDEX;
    add(sums + index * width, values, width, params->input_zero_point);
    values += width;
  }
  narrow(params, sums, size, data->output);
  return PL_OK;
}
