// SPDX-License-Identifier: Apache-2.0
// Divisor of a norm.
#ifndef KERNELS_NORMALIZE_ROOT_H_
#define KERNELS_NORMALIZE_ROOT_H_

#include "kernels/normalize/normalize.h"
#include "kernels/normalize/rsqrt.h"

// 1 / (max(sqrt(spread + epsilon), floor) + addend) = result / 2^30 * 2^(shift - 31). The spread
// has radicand_shift more bits.
static inline uint32_t pl_norm_root(const pl_normalize_params *params, uint64_t spread,
                                    int32_t *shift) {
  const int32_t up = params->radicand_shift;
  const uint64_t epsilon = (uint64_t)params->epsilon_high << 32 | params->epsilon_low;
  const uint64_t floor = (uint64_t)params->floor_high << 32 | params->floor_low;
  uint64_t radicand = (up >= 0 ? spread << up : spread >> -up) + epsilon;
  if (radicand < floor) radicand = floor;
  radicand |= 1;  // avoids the root of 0
  const uint32_t root = pl_rsqrt(radicand, shift);
  if (params->addend == 0) return root;
  const uint64_t whole = ((radicand << (2 * *shift)) >> 31) * root >> (30 + *shift);
  const uint64_t divisor = whole + (uint32_t)params->addend;
  return pl_rsqrt(divisor * divisor | 1, shift);
}

#endif  // KERNELS_NORMALIZE_ROOT_H_
