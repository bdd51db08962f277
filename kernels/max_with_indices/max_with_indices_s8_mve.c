// SPDX-License-Identifier: Apache-2.0
// Rows: sixteen values at a time, first the maximum, then the first equal value. Columns: four next
// to each other.
#include <arm_mve.h>

#include "kernels/max_with_indices/max_with_indices.h"

#define LANES 16
#define COLUMNS 4

static inline int8_t largest_of(const int8_t *x, int32_t size) {
  int8_t largest = INT8_MIN;
  for (; size > 0; size -= LANES, x += LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)size);
    largest = vmaxvq_p_s8(largest, vldrbq_z_s8(x, lanes), lanes);
  }
  return largest;
}

// Index of the first value equal to `value`; there is one. VCMP yields one bit per byte.
static inline int32_t first_of(const int8_t *x, int32_t size, int8_t value) {
  for (int32_t begin = 0;; begin += LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)(size - begin));
    const uint32_t equal = vcmpeqq_m_n_s8(vldrbq_z_s8(x + begin, lanes), value, lanes);
    if (equal != 0) return begin + __builtin_ctz(equal);
  }
}

static void rows(const pl_max_with_indices_dims *dims, const pl_max_with_indices_data *data) {
  const int32_t size = dims->size;
  const int8_t *x = data->input;
  int8_t *values = data->values;
  int32_t *indices = data->indices;
  for (int32_t left = dims->outer; left > 0; --left) {
    const int8_t largest = largest_of(x, size);
    *values++ = largest;
    *indices++ = first_of(x, size, largest);
    x += size;
  }
}

static void columns(const pl_max_with_indices_dims *dims, const pl_max_with_indices_data *data) {
  const int8_t *block = data->input;
  int8_t *values = data->values;
  int32_t *indices = data->indices;
  for (int32_t outer = dims->outer; outer > 0; --outer) {
    for (int32_t left = dims->inner; left > 0; left -= COLUMNS) {
      const mve_pred16_t lanes = vctp32q((uint32_t)left);
      const int8_t *x = block + (dims->inner - left);
      int32x4_t largest = vldrbq_z_s32(x, lanes);
      int32x4_t index = vdupq_n_s32(0);
      for (int32_t i = 1; i < dims->size; ++i) {
        x += dims->inner;
        const int32x4_t value = vldrbq_z_s32(x, lanes);
        index = vdupq_m_n_s32(index, i, vcmpgtq_s32(value, largest));
        largest = vmaxq_s32(largest, value);
      }
      const int32_t done = dims->inner - left;
      vstrbq_p_s32(values + done, largest, lanes);
      vstrwq_p_s32(indices + done, index, lanes);
    }
    values += dims->inner;
    indices += dims->inner;
    block += dims->size * dims->inner;
  }
}

pl_status pl_max_with_indices_s8(const pl_context *ctx, const pl_max_with_indices_params *params,
                                 const pl_max_with_indices_dims *dims,
                                 const pl_max_with_indices_data *data) {
  (void)ctx;
  (void)params;
  if (dims->inner == 1) {
    rows(dims, data);
  } else {
    columns(dims, data);
  }
  return PL_OK;
}
