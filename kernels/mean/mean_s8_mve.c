// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/requantize_mve.h"
#include "kernels/mean/mean.h"

#define LANES 8
#define VECTORS 4

// So many int8 fit into a sum of 16 bits.
#define MAX_TAPS 255

// Sums of 8 channels: of the even and the odd ones.
typedef struct {
  int32x4_t even;
  int32x4_t odd;
} sums;

static inline void widen(sums *s, int16x8_t sum) {
  s->even = vaddq_s32(s->even, vmovlbq_s16(sum));
  s->odd = vaddq_s32(s->odd, vmovltq_s16(sum));
}

// requantize.h for factors that divide, as those of means do but of a few values.
static inline int32x4_t divide(const pl_mean_params *params, int32x4_t x) {
  const int32x4_t high = vqrdmulhq_n_s32(x, params->multiplier);
  return vrshlq_n_s32(vaddq_s32(high, vshrq_n_s32(high, 31)), params->shift);
}

// Narrowed in place: of the even and the odd channels the low halves stay. From intrinsics GCC
// copies.
static inline int16x8_t narrowed(const pl_mean_params *params, int32x4_t even, int32x4_t odd) {
  __asm__(
      "vqmovnb.s32 %q0, %q0\n\tvqmovnt.s32 %q0, %q1\n\tvqadd.s16 %q0, %q0, %2\n\t"
      "vqmovnb.s16 %q0, %q0"
      : "+w"(even)
      : "w"(odd), "r"(params->output_zero_point));
  return vreinterpretq_s16_s32(even);
}

static inline void narrow(const pl_mean_params *params, sums s, mve_pred16_t lanes,
                          int8_t *output) {
  if (params->shift < 0) {
    vstrbq_p_s16(output, narrowed(params, divide(params, s.even), divide(params, s.odd)), lanes);
  } else {
    const pl_factors_mve factors = pl_same_factors_mve(params->multiplier, params->shift);
    const int32x4_t even = pl_requantize_mve(s.even, factors);
    vstrbq_p_s16(output, narrowed(params, even, pl_requantize_mve(s.odd, factors)), lanes);
  }
}

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

#define ADD_TAP                                                                       \
  "vldrb.s16 q4, [%[x]]\n\tvldrb.s16 q5, [%[x], #8]\n\tvadd.i16 q0, q0, q4\n\t"       \
  "vldrb.s16 q4, [%[x], #16]\n\tvadd.i16 q1, q1, q5\n\tvldrb.s16 q5, [%[x], #24]\n\t" \
  "vadd.i16 q2, q2, q4\n\tvadd.i16 q3, q3, q5\n\tadd %[x], %[step]\n\t"

// Adds values that are `step` apart to the sums of 32 neighbours. In assembly: GCC keeps more
// addresses than it needs.
static inline void add_taps(const int8_t *x, int32_t step, int32_t taps, int16x8_t all[VECTORS]) {
  register int16x8_t sum0 __asm__("q0") = all[0];
  register int16x8_t sum1 __asm__("q1") = all[1];
  register int16x8_t sum2 __asm__("q2") = all[2];
  register int16x8_t sum3 __asm__("q3") = all[3];
  __asm__ volatile(
      "wls lr, %[fours], 2f\n\t"
      "1:\n\t" ADD_TAP ADD_TAP ADD_TAP ADD_TAP
      "le lr, 1b\n\t"
      "2:\n\twls lr, %[more], 4f\n\t"
      "3:\n\t" ADD_TAP
      "le lr, 3b\n\t"
      "4:\n\t"
      : [x] "+l"(x), "+w"(sum0), "+w"(sum1), "+w"(sum2), "+w"(sum3)
      : [step] "r"(step), [fours] "r"(taps >> 2), [more] "r"(taps & 3)
      : "lr", "q4", "q5", "cc", "memory");
  all[0] = sum0;
  all[1] = sum1;
  all[2] = sum2;
  all[3] = sum3;
}

// 32 neighbours in the output and in the input, of at most MAX_TAPS values that are one dimension
// and with a factor that divides.
static void mean_32(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                    int8_t *output) {
  const pl_mean_params p = *params;
  int16x8_t all[VECTORS] = {vdupq_n_s16(0), vdupq_n_s16(0), vdupq_n_s16(0), vdupq_n_s16(0)};
  add_taps(x, dims->reduced_stride[2], dims->reduced[2], all);
#pragma GCC unroll 4
  for (int32_t i = 0; i < VECTORS; ++i) {
    const int32x4_t even = vaddq_n_s32(vmovlbq_s16(all[i]), p.offset);
    const int32x4_t odd = vaddq_n_s32(vmovltq_s16(all[i]), p.offset);
    vstrbq_s16(output + i * LANES, narrowed(&p, divide(&p, even), divide(&p, odd)));
    __asm__ volatile("" ::: "memory");  // or GCC would widen all first, and spill
  }
}

static void mean_8(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                   mve_pred16_t lanes, int8_t *output) {
  sums s = {vdupq_n_s32(params->offset), vdupq_n_s32(params->offset)};
  const int32_t step = dims->reduced_stride[2];
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; left -= MAX_TAPS) {
        int16x8_t sum = vdupq_n_s16(0);
        for (int32_t taps = smaller(left, MAX_TAPS); taps > 0; --taps, at += step) {
          sum = vaddq_s16(sum, vldrbq_z_s16(at, lanes));
        }
        widen(&s, sum);
      }
    }
  }
  narrow(params, s, lanes, output);
}

// The innermost reduced dimension is contiguous, or not.
static int8_t mean_1(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x) {
  int32_t sum = params->offset;
  const int32_t step = dims->reduced_stride[2];
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      int32_t left = dims->reduced[2];
      if (step == 1) {
        for (; left > 0; left -= 16) {
          sum = vaddvaq_p_s8(sum, vldrbq_z_s8(at, vctp8q((uint32_t)left)), vctp8q((uint32_t)left));
          at += 16;
        }
      }
      for (; left > 0; --left, at += step) sum += *at;
    }
  }
  return pl_narrow(pl_requantize(sum, params->multiplier, params->shift), params->output_zero_point,
                   INT8_MIN, INT8_MAX);
}

pl_status pl_mean_s8(const pl_context *ctx, const pl_mean_params *params, const pl_mean_dims *dims,
                     const pl_mean_data *data) {
  (void)ctx;
  int8_t *output = data->output;
  const int32_t is_short = dims->reduced[0] == 1 && dims->reduced[1] == 1 &&
                           dims->reduced[2] <= MAX_TAPS && params->shift < 0;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      int32_t left = dims->kept[2];
      if (dims->kept_stride[2] == 1) {
        for (; is_short && left >= VECTORS * LANES; left -= VECTORS * LANES) {
          mean_32(params, dims, x, output);
          x += VECTORS * LANES;
          output += VECTORS * LANES;
        }
        for (; left > 0; left -= LANES) {
          mean_8(params, dims, x, vctp16q((uint32_t)left), output);
          x += LANES;
          output += smaller(left, LANES);
        }
      }
      for (; left > 0; --left, x += dims->kept_stride[2]) *output++ = mean_1(params, dims, x);
    }
  }
  return PL_OK;
}
