// SPDX-License-Identifier: Apache-2.0
// More values than fit into 16-bit sums, for 9 to 31 neighbours. It computes two or three vectors
// of sums at a time. The last one may overlap the vector before it.
#include "kernels/common/vector_sums_mve.h"
#include "kernels/mean/scale_mve.h"

#define MAX_TAPS 255
#define TWO (2 * PL_SUM_LANES)

// 9 to 24 neighbours.
static void mean_of_some(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                         int32_t count, int8_t *output) {
  const int32_t step = dims->reduced_stride[2];
  const int32_t last = count - PL_SUM_LANES;
  const int32_t places[PL_SUM_VECTORS] = {0, count > TWO ? PL_SUM_LANES : last, last};
  const int32_t vectors = count > TWO ? PL_SUM_VECTORS : 2;
  pl_sums_mve sums[PL_SUM_VECTORS];
  for (int32_t i = 0; i < vectors; ++i) sums[i] = pl_mean_start(params);
  for (int32_t left = dims->reduced[2]; left > 0; left -= MAX_TAPS) {
    const int32_t taps = left < MAX_TAPS ? left : MAX_TAPS;
    int16x8_t all[PL_SUM_VECTORS];
    if (count > TWO) {
      pl_sums_of_3(x, x + last, step, taps, all);
    } else {
      pl_sums_of_2(x, x + last, step, taps, all);
    }
    x += taps * step;
    for (int32_t i = 0; i < vectors; ++i) sums[i] = pl_widen_mve(sums[i], all[i]);
  }
  for (int32_t i = 0; i < vectors; ++i) {
    vstrbq_s16(output + places[i], pl_scale_down_mve(sums[i], pl_mean_scale(params)));
  }
}

pl_status pl_mean_many_vectors_s8(const pl_context *ctx, const pl_mean_params *params,
                                  const pl_mean_dims *dims, const pl_mean_data *data) {
  (void)ctx;
  const int32_t neighbours = dims->kept[2];
  const int32_t first = neighbours > TWO + PL_SUM_LANES ? TWO : neighbours;
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      mean_of_some(params, dims, x, first, output);
      if (first < neighbours) {
        mean_of_some(params, dims, x + first, neighbours - first, output + first);
      }
      output += neighbours;
    }
  }
  return PL_OK;
}
