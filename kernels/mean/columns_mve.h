// SPDX-License-Identifier: Apache-2.0
// Sums of 32 neighbours, in four vectors.
#ifndef KERNELS_MEAN_COLUMNS_MVE_H_
#define KERNELS_MEAN_COLUMNS_MVE_H_

#include "kernels/mean/scale_mve.h"

#define PL_MEAN_LANES 8
#define PL_MEAN_VECTORS 4
#define PL_MEAN_COLUMNS (PL_MEAN_VECTORS * PL_MEAN_LANES)

#define PL_ADD_TAP                                                                    \
  "vldrb.s16 q4, [%[x]]\n\tvldrb.s16 q5, [%[x], #8]\n\tvadd.i16 q0, q0, q4\n\t"       \
  "vldrb.s16 q4, [%[x], #16]\n\tvadd.i16 q1, q1, q5\n\tvldrb.s16 q5, [%[x], #24]\n\t" \
  "vadd.i16 q2, q2, q4\n\tvadd.i16 q3, q3, q5\n\tadd %[x], %[step]\n\t"

// Adds values `step` apart to the sums of 32 neighbours. Assembly is used because GCC keeps
// unneeded addresses.
static inline void pl_add_taps(const int8_t *x, int32_t step, int32_t taps,
                               int16x8_t all[PL_MEAN_VECTORS]) {
  register int16x8_t sum0 __asm__("q0") = all[0];
  register int16x8_t sum1 __asm__("q1") = all[1];
  register int16x8_t sum2 __asm__("q2") = all[2];
  register int16x8_t sum3 __asm__("q3") = all[3];
  __asm__ volatile(
      "wls lr, %[fours], 2f\n\t"
      "1:\n\t" PL_ADD_TAP PL_ADD_TAP PL_ADD_TAP PL_ADD_TAP
      "le lr, 1b\n\t"
      "2:\n\twls lr, %[more], 4f\n\t"
      "3:\n\t" PL_ADD_TAP
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

typedef void pl_mean_32(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                        int8_t *output);

// Goes through all outputs by 32; `mean` is a constant where this is inlined.
PL_INLINE void pl_mean_by_32(const pl_mean_params *params, const pl_mean_dims *dims,
                             const pl_mean_data *data, pl_mean_32 *mean) {
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t begin = 0; begin < dims->kept[2]; begin += PL_MEAN_COLUMNS) {
        // The last may have some of those before them, again.
        const int32_t last = dims->kept[2] - PL_MEAN_COLUMNS;
        const int32_t at = begin < last ? begin : last;
        mean(params, dims, x + at, output + at);
      }
      output += dims->kept[2];
    }
  }
}

#endif  // KERNELS_MEAN_COLUMNS_MVE_H_
