// SPDX-License-Identifier: Apache-2.0
#include "kernels/integer/elementwise.h"

static inline int32_t modulo(int32_t a, int32_t b) {
  if (b == 0) return 0;
  const int32_t rest = pl_integer_rest(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

pl_status pl_integer_modulo(const pl_context *ctx, const pl_integer_params *params,
                            const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  (void)params;
  return pl_integers(dims, data, modulo);
}
