// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MAX_WITH_INDICES_MAX_WITH_INDICES_H_
#define KERNELS_MAX_WITH_INDICES_MAX_WITH_INDICES_H_

#include "kernels/common/types.h"

// For topk; else null.
typedef struct {
  int32_t k;        // at most size
  int32_t largest;  // 0 or 1
} pl_max_with_indices_params;

typedef struct {
  int32_t outer;
  int32_t size;
  int32_t inner;
} pl_max_with_indices_dims;

typedef struct {
  const void *input;  // [outer, size, inner]
  void *values;       // [outer, inner], of topk [outer, k, inner]
  int32_t *indices;   // likewise
} pl_max_with_indices_data;

// The largest value over size, and where it is: the first place if there are several.
// NaN is larger than every number, here and below.
PL_MUST_USE pl_status pl_max_with_indices_s8(const pl_context *ctx,
                                             const pl_max_with_indices_params *params,
                                             const pl_max_with_indices_dims *dims,
                                             const pl_max_with_indices_data *data);
PL_MUST_USE pl_status pl_max_with_indices_s16(const pl_context *ctx,
                                              const pl_max_with_indices_params *params,
                                              const pl_max_with_indices_dims *dims,
                                              const pl_max_with_indices_data *data);
PL_MUST_USE pl_status pl_max_with_indices_f32(const pl_context *ctx,
                                              const pl_max_with_indices_params *params,
                                              const pl_max_with_indices_dims *dims,
                                              const pl_max_with_indices_data *data);

// The k largest or smallest values over size, in order, and their indices. Equal values keep the
// order of the input.
PL_MUST_USE pl_status pl_topk_s8(const pl_context *ctx, const pl_max_with_indices_params *params,
                                 const pl_max_with_indices_dims *dims,
                                 const pl_max_with_indices_data *data);
PL_MUST_USE pl_status pl_topk_s16(const pl_context *ctx, const pl_max_with_indices_params *params,
                                  const pl_max_with_indices_dims *dims,
                                  const pl_max_with_indices_data *data);
PL_MUST_USE pl_status pl_topk_s32(const pl_context *ctx, const pl_max_with_indices_params *params,
                                  const pl_max_with_indices_dims *dims,
                                  const pl_max_with_indices_data *data);
PL_MUST_USE pl_status pl_topk_f32(const pl_context *ctx, const pl_max_with_indices_params *params,
                                  const pl_max_with_indices_dims *dims,
                                  const pl_max_with_indices_data *data);

#endif  // KERNELS_MAX_WITH_INDICES_MAX_WITH_INDICES_H_
