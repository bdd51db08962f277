// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials_mve.h"
#include "kernels/reduce/logsumexp.h"

#define LANES 4

// Values of an output lie together.
static inline int32_t of_rows(const pl_reduce_params *params, const pl_reduce_dims *dims,
                              const int32_t *exp_table, const void *x) {
  const int32_t size = dims->reduced[2];
  int32_t maximum = INT8_MIN;
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int32_t start = i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      const pl_row_mve row = {(const int8_t *)x + start, NULL, size, 1, false};
      const int32_t of_row = pl_row_maximum_mve(row);
      maximum = of_row > maximum ? of_row : maximum;
    }
  }
  uint32_t sum = 0;
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int32_t start = i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      const pl_row_mve row = {(const int8_t *)x + start, NULL, size, 1, false};
      sum += pl_row_exponentials_mve(row, exp_table, maximum);
    }
  }
  return pl_logsumexp_of(params, maximum, sum);
}

// Four outputs, with their values next to each other.
static void of_columns(const pl_reduce_params *params, const pl_reduce_dims *dims,
                       const int32_t *exp_table, const int8_t *x, int32_t count, int8_t *output) {
  const mve_pred16_t lanes = vctp32q((uint32_t)count);
  const uint32x4_t offsets = pl_offsets_mve(1);
  int32x4_t maximum = vdupq_n_s32(INT8_MIN);
  uint32x4_t sum = vdupq_n_u32(0);
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; --left, at += dims->reduced_stride[2]) {
        maximum = vmaxq_s32(maximum, vldrbq_z_s32(at, lanes));
      }
    }
  }
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; --left, at += dims->reduced_stride[2]) {
        const uint32x4_t e =
            pl_exponentials_mve(at, NULL, false, 1, offsets, exp_table, maximum, lanes);
        sum = vaddq_u32(sum, e);
      }
    }
  }
  int32_t maxima[LANES];
  uint32_t sums[LANES];
  vstrwq_s32(maxima, maximum);
  vstrwq_u32(sums, sum);
  for (int32_t lane = 0; lane < count; ++lane) {
    output[lane] = (int8_t)pl_logsumexp_of(params, maxima[lane], sums[lane]);
  }
}

pl_status pl_logsumexp_s8(const pl_context *ctx, const pl_reduce_params *params,
                          const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  if (dims->reduced_stride[2] == 1) return pl_reduce_s8(params, dims, data, of_rows);
  if (dims->kept_stride[2] != 1) return pl_reduce_s8(params, dims, data, pl_logsumexp_anyhow);
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x =
          (const int8_t *)data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t left = dims->kept[2]; left > 0; left -= LANES) {
        const int32_t count = left < LANES ? left : LANES;
        of_columns(params, dims, data->exp_table, x, count, output);
        x += LANES;
        output += count;
      }
    }
  }
  return PL_OK;
}
