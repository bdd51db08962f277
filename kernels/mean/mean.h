// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MEAN_MEAN_H_
#define KERNELS_MEAN_MEAN_H_

#include "kernels/common/reduction.h"
#include "kernels/common/types.h"

typedef struct {
  int32_t offset;      // -input_zero_point * number of values in a sum
  int32_t multiplier;  // [0, 2^31)
  int32_t shift;
  int32_t output_zero_point;
} pl_mean_params;

typedef pl_reduction_dims pl_mean_dims;

typedef struct {
  const int8_t *input;
  int8_t *output;
} pl_mean_data;

// output = saturate(requantize(sum of input + offset) + output_zero_point), the sum over the
// reduced dimensions. TFLite int8 MEAN, with the number of values divided into multiplier and
// shift.
PL_MUST_USE pl_status pl_mean_s8(const pl_context *ctx, const pl_mean_params *params,
                                 const pl_mean_dims *dims, const pl_mean_data *data);

// Same on cores with Helium, for 32 neighbours or more in input and output (kept[2], with a stride
// of 1). It sums at most 255 values of one dimension. Factors have a shift below 0.
PL_MUST_USE pl_status pl_mean_columns_s8(const pl_context *ctx, const pl_mean_params *params,
                                         const pl_mean_dims *dims, const pl_mean_data *data);

// The same for any number of values.
PL_MUST_USE pl_status pl_mean_many_columns_s8(const pl_context *ctx, const pl_mean_params *params,
                                              const pl_mean_dims *dims, const pl_mean_data *data);

// pl_mean_columns_s8 for any number of neighbours, 24 at a time.
PL_MUST_USE pl_status pl_mean_vectors_s8(const pl_context *ctx, const pl_mean_params *params,
                                         const pl_mean_dims *dims, const pl_mean_data *data);

// The same of 9 to 31 neighbours, and any number of values.
PL_MUST_USE pl_status pl_mean_many_vectors_s8(const pl_context *ctx, const pl_mean_params *params,
                                              const pl_mean_dims *dims, const pl_mean_data *data);

#endif  // KERNELS_MEAN_MEAN_H_
