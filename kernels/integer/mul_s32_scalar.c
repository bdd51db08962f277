// SPDX-License-Identifier: Apache-2.0
#include "kernels/integer/elementwise.h"

// Unsigned arithmetic: signed overflow of int32 is undefined in C.
static inline int32_t mul(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }

pl_status pl_integer_mul(const pl_context *ctx, const pl_integer_params *params,
                         const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  (void)params;
  return pl_integers(dims, data, mul);
}
