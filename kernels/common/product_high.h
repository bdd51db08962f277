// SPDX-License-Identifier: Apache-2.0
// Products of 32 bits by 32 bits, and their upper half. Armv6-M and the baseline of Armv8-M
// multiply to 32 bits only. There, four products of 16 bits replace the call of a 64-bit
// multiplication.
#ifndef KERNELS_COMMON_PRODUCT_HIGH_H_
#define KERNELS_COMMON_PRODUCT_HIGH_H_

#include <stdint.h>

#if __ARM_ARCH_ISA_THUMB == 1
// x * m + rounding * 2^16 without its lowest 16 bits: high * 2^32 + (low & 0xFFFF) * 2^16.
typedef struct {
  int32_t high;
  uint32_t low;
} pl_product;

// rounding is in [0, 2^16).
static inline pl_product pl_product_of(int32_t x, int32_t m, uint32_t rounding) {
  const uint32_t x_low = (uint32_t)x & 0xFFFF;
  const uint32_t m_low = (uint32_t)m & 0xFFFF;
  const int32_t x_high = x >> 16;
  const int32_t m_high = m >> 16;
  const int32_t middle = (int32_t)x_low * m_high + (int32_t)(x_low * m_low >> 16);
  const int32_t other = x_high * (int32_t)m_low;
  const uint32_t low = ((uint32_t)middle & 0xFFFF) + ((uint32_t)other & 0xFFFF) + rounding;
  const int32_t high = x_high * m_high + (middle >> 16) + (other >> 16) + (int32_t)(low >> 16);
  return (pl_product){high, low};
}
#endif

static inline int64_t pl_product_64(int32_t x, int32_t m) {
#if __ARM_ARCH_ISA_THUMB == 1
  const uint32_t x_low = (uint32_t)x & 0xFFFF;
  const uint32_t m_low = (uint32_t)m & 0xFFFF;
  const int32_t x_high = x >> 16;
  const int32_t m_high = m >> 16;
  const uint64_t outer = (uint64_t)(uint32_t)(x_high * m_high) << 32 | x_low * m_low;
  const int64_t inner = (int64_t)((int32_t)x_low * m_high) + x_high * (int32_t)m_low;
  return (int64_t)(outer + ((uint64_t)inner << 16));
#else
  return (int64_t)x * m;
#endif
}

// sum + a * b, for a product of 32 bits.
static inline int64_t pl_add_product(int64_t sum, int32_t a, int32_t b) {
#if __ARM_ARCH_ISA_THUMB == 1
  const int32_t product = a * b;
  return sum + product;
#else
  return sum + (int64_t)a * b;
#endif
}

// floor(x * m / 2^32).
static inline int32_t pl_product_high(int32_t x, int32_t m) {
#if __ARM_ARCH_ISA_THUMB == 1
  return pl_product_of(x, m, 0).high;
#else
  return (int32_t)(((int64_t)x * m) >> 32);
#endif
}

// start + x * m / 2^32, rounded to nearest, ties up.
static inline int32_t pl_add_rounded_product_high(int32_t start, int32_t x, int32_t m) {
#if __ARM_ARCH_ISA_THUMB == 1
  return start + pl_product_of(x, m, 0x8000).high;
#else
  const int64_t rounding = (int64_t)((uint64_t)(uint32_t)start << 32 | 1U << 31);
  return (int32_t)(((int64_t)x * m + rounding) >> 32);
#endif
}

// x * m / 2^31, rounded to nearest, ties up; |m| < 2^31.
static inline int32_t pl_rounded_product_31(int32_t x, int32_t m) {
#if __ARM_ARCH_ISA_THUMB == 1
  const pl_product product = pl_product_of(x, m, 0x4000);
  return (int32_t)((uint32_t)product.high << 1 | (product.low >> 15 & 1));
#else
  return (int32_t)(((int64_t)x * m + (1 << 30)) >> 31);
#endif
}

#endif  // KERNELS_COMMON_PRODUCT_HIGH_H_
