// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_NORMALIZE_NORMALIZE_H_
#define KERNELS_NORMALIZE_NORMALIZE_H_

#include "kernels/common/reduction.h"
#include "kernels/common/types.h"

typedef struct {
  int32_t centered;        // 1: about the part's mean; 0: about center
  int32_t center;          // the input's zero point
  uint32_t epsilon_high;   // uint64, same as the radicand
  uint32_t epsilon_low;    //
  uint32_t floor_high;     // likewise
  uint32_t floor_low;      //
  int32_t addend;          // added to the root, in its unit
  int32_t radicand_shift;  // even
  int32_t given_bits;      // 61 - radicand_shift / 2 - normalized_bits
  int32_t count_bits;      // bit length of the number of values in a part
  int32_t output_bits;
  int32_t activation_min;
  int32_t activation_max;
} pl_normalize_params;

// Layout of the input's elements: parts, and values in each, outermost dimension first. Strides are
// in elements of the input, and in channels. The output has the same strides.
typedef struct {
  int32_t count;  // values per part, below 2^18
  int32_t parts[PL_REDUCTION_DIMS];
  int32_t part_stride[PL_REDUCTION_DIMS];
  int32_t part_channels[PL_REDUCTION_DIMS];
  int32_t values[PL_REDUCTION_DIMS];
  int32_t value_stride[PL_REDUCTION_DIMS];
  int32_t value_channels[PL_REDUCTION_DIMS];
} pl_normalize_dims;

typedef struct {
  const int8_t *input;
  const int32_t *affine;  // [channels, 2]: weight, and bias with the zero point and half a step
  int8_t *output;         // may be the input
} pl_normalize_data;

// output = (input - mean) / (max(sqrt(variance + epsilon), floor) + addend) * weight + bias, mean
// and variance of each part. Exact sums, a fixed-point root; kernels/normalize/op.py has the
// rounding of each step.
PL_MUST_USE pl_status pl_normalize_s8(const pl_context *ctx, const pl_normalize_params *params,
                                      const pl_normalize_dims *dims, const pl_normalize_data *data);

#endif  // KERNELS_NORMALIZE_NORMALIZE_H_
