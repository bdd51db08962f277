// SPDX-License-Identifier: Apache-2.0
// Same as elementwise.h, on vectors: `function` is a constant after inlining.
#ifndef KERNELS_BINARY_ELEMENTWISE_MVE_H_
#define KERNELS_BINARY_ELEMENTWISE_MVE_H_

#include "kernels/binary/binary.h"
#include "kernels/binary/binary_s16.h"
#include "kernels/common/operands_mve.h"

// Functions of a and b alone, sixteen int8 at a time.
static inline pl_status pl_elementwise_mve(const pl_binary_dims *dims, const pl_binary_data *data,
                                           int8x16_t (*function)(int8x16_t a, int8x16_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int8_t a_repeated[16];
  int8_t b_repeated[16];
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *a = pl_row_s8(data->a + row.a, a_step, a_repeated);
    const int8_t *b = pl_row_s8(data->b + row.b, b_step, b_repeated);
    int8_t *y = output;
    for (int32_t left = size; left > 0; left -= 16) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      vstrbq_p_s8(y, function(vldrbq_z_s8(a, lanes), vldrbq_z_s8(b, lanes)), lanes);
      a += 16 * a_step;
      b += 16 * b_step;
      y += 16;
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

// The same, eight int16.
static inline pl_status pl_elementwise_s16_mve(const pl_binary_dims *dims,
                                               const pl_binary_s16_data *data,
                                               int16x8_t (*function)(int16x8_t a, int16x8_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int16_t a_repeated[8];
  int16_t b_repeated[8];
  int16_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int16_t *a = pl_row_s16(data->a + row.a, a_step, a_repeated);
    const int16_t *b = pl_row_s16(data->b + row.b, b_step, b_repeated);
    int16_t *y = output;
    for (int32_t left = size; left > 0; left -= 8) {
      const mve_pred16_t lanes = vctp16q((uint32_t)left);
      vstrhq_p_s16(y, function(vldrhq_z_s16(a, lanes), vldrhq_z_s16(b, lanes)), lanes);
      a += 8 * a_step;
      b += 8 * b_step;
      y += 8;
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

// Functions of int8 that compute in 32 bits, four at a time. Their results are in int8's range.
PL_INLINE pl_status pl_elementwise_wide_mve(const pl_binary_params *params,
                                            const pl_binary_dims *dims, const pl_binary_data *data,
                                            int32x4_t (*function)(const pl_binary_params *params,
                                                                  int32x4_t a, int32x4_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int8_t a_repeated[16];
  int8_t b_repeated[16];
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *a = pl_row_s8(data->a + row.a, a_step, a_repeated);
    const int8_t *b = pl_row_s8(data->b + row.b, b_step, b_repeated);
    int8_t *y = output;
    for (int32_t left = size; left > 0; left -= 4) {
      const mve_pred16_t lanes = vctp32q((uint32_t)left);
      vstrbq_p_s32(y, function(params, vldrbq_z_s32(a, lanes), vldrbq_z_s32(b, lanes)), lanes);
      a += 4 * a_step;
      b += 4 * b_step;
      y += 4;
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

// Comparisons of a with table[b + 128], eight at a time, to 0 and 1.
static inline pl_status pl_compare_mve(const pl_binary_dims *dims, const pl_binary_data *data,
                                       mve_pred16_t (*function)(int16x8_t a, int16x8_t b),
                                       int32_t negated) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  const uint16x8_t yes = vdupq_n_u16(negated ? 0 : 1);
  const uint16x8_t no = vdupq_n_u16(negated ? 1 : 0);
  const int16_t *table = data->table;
  int8_t a_repeated[16];
  int8_t b_repeated[16];
  uint8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *a = pl_row_s8(data->a + row.a, a_step, a_repeated);
    const int8_t *b = pl_row_s8(data->b + row.b, b_step, b_repeated);
    uint8_t *y = output;
    for (int32_t left = size; left > 0; left -= 8) {
      const mve_pred16_t lanes = vctp16q((uint32_t)left);
      const int16x8_t index = vaddq_n_s16(vldrbq_z_s16(b, lanes), 128);
      const int16x8_t other =
          vldrhq_gather_shifted_offset_z_s16(table, vreinterpretq_u16_s16(index), lanes);
      vstrbq_p_u16(y, vpselq_u16(yes, no, function(vldrbq_z_s16(a, lanes), other)), lanes);
      a += 8 * a_step;
      b += 8 * b_step;
      y += 8;
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

#endif  // KERNELS_BINARY_ELEMENTWISE_MVE_H_
