// SPDX-License-Identifier: Apache-2.0
// Means of few neighbours, up to three vectors of them at a time, of which the last begins among
// those of the one before it.
#include "kernels/mean/narrow_mve.h"

#define LANES 8
#define VECTORS 3
#define CHANNELS (VECTORS * LANES)

// Adds values that are `step` apart. In assembly: GCC keeps more addresses than it needs, and in
// post-increment what could be an offset.
#define LOOPS(TAP)                \
  "wls lr, %[fours], 2f\n\t"      \
  "1:\n\t" TAP TAP TAP TAP        \
  "le lr, 1b\n\t"                 \
  "2:\n\twls lr, %[more], 4f\n\t" \
  "3:\n\t" TAP                    \
  "le lr, 3b\n\t"                 \
  "4:\n\t"
#define COUNTS [step] "r"(step), [fours] "r"(taps >> 2), [more] "r"(taps & 3)

#define ADD_SOME "vpst\n\tvldrbt.s16 q4, [%[x]]\n\tvadd.i16 q0, q0, q4\n\tadd %[x], %[step]\n\t"
#define ADD_2                                                                \
  "vldrb.s16 q4, [%[x]]\n\tvldrb.s16 q5, [%[last]]\n\tadd %[x], %[step]\n\t" \
  "vadd.i16 q0, q0, q4\n\tadd %[last], %[step]\n\tvadd.i16 q1, q1, q5\n\t"
#define ADD_3                                                                  \
  "vldrb.s16 q4, [%[x]]\n\tvldrb.s16 q5, [%[last]]\n\tvadd.i16 q0, q0, q4\n\t" \
  "vldrb.s16 q4, [%[x], #8]\n\tvadd.i16 q2, q2, q5\n\tadd %[x], %[step]\n\t"   \
  "add %[last], %[step]\n\tvadd.i16 q1, q1, q4\n\t"

static inline int16x8_t sum_of_some(const int8_t *x, int32_t channels, int32_t step, int32_t taps) {
  register int16x8_t sum __asm__("q0") = vdupq_n_s16(0);
  __asm__ volatile("vctp.16 %[channels]\n\t" LOOPS(ADD_SOME)
                   : [x] "+l"(x), "+w"(sum)
                   : [channels] "r"(channels), COUNTS
                   : "lr", "q4", "p0", "cc", "memory");
  return sum;
}

// All vectors but the last are where x is, that is at `last`.
static inline void sums_of_2(const int8_t *x, const int8_t *last, int32_t step, int32_t taps,
                             int16x8_t all[VECTORS]) {
  register int16x8_t sum0 __asm__("q0") = vdupq_n_s16(0);
  register int16x8_t sum1 __asm__("q1") = vdupq_n_s16(0);
  __asm__ volatile(LOOPS(ADD_2)
                   : [x] "+l"(x), [last] "+l"(last), "+w"(sum0), "+w"(sum1)
                   : COUNTS
                   : "lr", "q4", "q5", "cc", "memory");
  all[0] = sum0;
  all[1] = sum1;
}

static inline void sums_of_3(const int8_t *x, const int8_t *last, int32_t step, int32_t taps,
                             int16x8_t all[VECTORS]) {
  register int16x8_t sum0 __asm__("q0") = vdupq_n_s16(0);
  register int16x8_t sum1 __asm__("q1") = vdupq_n_s16(0);
  register int16x8_t sum2 __asm__("q2") = vdupq_n_s16(0);
  __asm__ volatile(LOOPS(ADD_3)
                   : [x] "+l"(x), [last] "+l"(last), "+w"(sum0), "+w"(sum1), "+w"(sum2)
                   : COUNTS
                   : "lr", "q4", "q5", "cc", "memory");
  all[0] = sum0;
  all[1] = sum1;
  all[2] = sum2;
}

static inline int16x8_t mean_of(const pl_mean_params *params, int16x8_t sum) {
  const int32x4_t even = vaddq_n_s32(vmovlbq_s16(sum), params->offset);
  const int32x4_t odd = vaddq_n_s32(vmovltq_s16(sum), params->offset);
  return narrowed(params, divide(params, even), divide(params, odd));
}

static void mean_block(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                       int32_t channels, int8_t *output) {
  const int32_t step = dims->reduced_stride[2];
  const int32_t taps = dims->reduced[2];
  const int32_t last = channels - LANES;
  if (last <= 0) {
    const int16x8_t sum = sum_of_some(x, channels, step, taps);
    vstrbq_p_s16(output, mean_of(params, sum), vctp16q((uint32_t)channels));
    return;
  }
  int16x8_t all[VECTORS];
  if (last <= LANES) {
    sums_of_2(x, x + last, step, taps, all);
    vstrbq_s16(output + last, mean_of(params, all[1]));
  } else {
    sums_of_3(x, x + last, step, taps, all);
    vstrbq_s16(output + LANES, mean_of(params, all[1]));
    vstrbq_s16(output + last, mean_of(params, all[2]));
  }
  vstrbq_s16(output, mean_of(params, all[0]));
}

pl_status pl_mean_vectors_s8(const pl_context *ctx, const pl_mean_params *params,
                             const pl_mean_dims *dims, const pl_mean_data *data) {
  (void)ctx;
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t left = dims->kept[2]; left > 0; left -= CHANNELS) {
        const int32_t channels = left < CHANNELS ? left : CHANNELS;
        mean_block(params, dims, x, channels, output);
        x += channels;
        output += channels;
      }
    }
  }
  return PL_OK;
}
