// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean/narrow_mve.h"

#define LANES 8
#define VECTORS 4
#define CHANNELS (VECTORS * LANES)

// So many int8 fit into a sum of 16 bits.
#define MAX_TAPS 255

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

// More values than fit into sums of 16 bits.
static __attribute__((noinline)) void mean_32_of_many(const pl_mean_params *params,
                                                      const pl_mean_dims *dims, const int8_t *x,
                                                      int8_t *output) {
  const int32_t step = dims->reduced_stride[2];
  int32x4_t even[VECTORS];
  int32x4_t odd[VECTORS];
  for (int32_t i = 0; i < VECTORS; ++i) even[i] = odd[i] = vdupq_n_s32(params->offset);
  for (int32_t left = dims->reduced[2]; left > 0; left -= MAX_TAPS) {
    const int32_t taps = left < MAX_TAPS ? left : MAX_TAPS;
    int16x8_t all[VECTORS] = {vdupq_n_s16(0), vdupq_n_s16(0), vdupq_n_s16(0), vdupq_n_s16(0)};
    add_taps(x, step, taps, all);
    x += taps * step;
    for (int32_t i = 0; i < VECTORS; ++i) {
      even[i] = vaddq_s32(even[i], vmovlbq_s16(all[i]));
      odd[i] = vaddq_s32(odd[i], vmovltq_s16(all[i]));
    }
  }
  for (int32_t i = 0; i < VECTORS; ++i) {
    const int16x8_t y = narrowed(params, divide(params, even[i]), divide(params, odd[i]));
    vstrbq_s16(output + i * LANES, y);
  }
}

static void mean_32(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                    int8_t *output) {
  if (dims->reduced[2] > MAX_TAPS) {
    mean_32_of_many(params, dims, x, output);
    return;
  }
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

pl_status pl_mean_columns_s8(const pl_context *ctx, const pl_mean_params *params,
                             const pl_mean_dims *dims, const pl_mean_data *data) {
  (void)ctx;
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t begin = 0; begin < dims->kept[2]; begin += CHANNELS) {
        // The last may have some of those before them, again.
        const int32_t last = dims->kept[2] - CHANNELS;
        const int32_t at = begin < last ? begin : last;
        mean_32(params, dims, x + at, output + at);
      }
      output += dims->kept[2];
    }
  }
  return PL_OK;
}
