// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_SVDF_SVDF_H_
#define KERNELS_SVDF_SVDF_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t state_multiplier;
  int32_t state_shift;
  int32_t multiplier;
  int32_t shift;
  int32_t output_zero_point;
} pl_svdf_params;

typedef struct {
  int32_t batches;
  int32_t input_size;
  int32_t units;
  int32_t rank;    // filters a unit
  int32_t memory;  // frames per filter, at least 2
} pl_svdf_dims;

typedef struct {
  const int8_t *input;         // [batches, input_size], a frame
  const int16_t *state;        // [batches, units, rank, memory - 1], the oldest frame first
  const int8_t *weight;        // [units, rank, input_size]
  const int32_t *column_bias;  // [units, rank]: the input's zero point, folded in
  const int16_t *time;         // [units, rank, memory]
  const int32_t *bias;         // [units]
  int8_t *output;              // [batches, units]
  int16_t *new_state;          // same form as the state, may alias it
} pl_svdf_data;

// Each filter computes saturate(requantize(column_bias + sum of input * weight)) of the frame. It
// weighs this value, and those of earlier frames, with time. output is saturate(requantize(bias +
// their sum over time and rank) + zero point). The last sum wraps around at 32 bits. TFLite's SVDF
// with int8 values and an int16 state.
PL_MUST_USE pl_status pl_svdf_s8(const pl_context *ctx, const pl_svdf_params *params,
                                 const pl_svdf_dims *dims, const pl_svdf_data *data);

#endif  // KERNELS_SVDF_SVDF_H_
