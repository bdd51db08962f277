// SPDX-License-Identifier: Apache-2.0
// One row: weights are read once, so that expanding them to pairs of taps does not pay. Those of
// four channels are the digits of a word, W = u0 + 2^8 * u1 + 2^16 * u2 + 2^24 * w3 with u = w +
// 128. With A(k) the sum of x * (W >> 8 * k), A(k) - 2^8 * A(k + 1) is the sum of x * u(k), modulo
// 2^32. ASRS takes a digit off and copies the word in one instruction.
#include "kernels/common/gemm_taps_s8.h"
#include "kernels/linear/linear.h"

#define FOUR 4

#define UNUSED __attribute__((unused))  // by C: it is in a register

// One value, r3, times a word. The sums are r8 to r11.
#define ONE_TAP(AT, W)                                                             \
  "ldrb r3, [r0, #" AT "]\n\tsxtb r3, r3\n\tasrs r2, " W                           \
  ", #8\n\tmuls r2, r3\n\t"                                                        \
  "add r9, r2\n\tasrs r2, " W ", #16\n\tmuls r2, r3\n\tadd r10, r2\n\tasrs r2, " W \
  ", #24\n\tmuls r2, r3\n\tadd r11, r2\n\tmuls " W ", r3\n\tadd r8, " W "\n\t"

// sums[k] = the sum of x * (w >> 8 * k), for a multiple of four values, at least four. Without
// noipa GCC takes no register as overwritten.
static __attribute__((naked, noipa)) void multiply(UNUSED const int8_t *x,
                                                   UNUSED const int8_t *x_end,
                                                   UNUSED const int32_t *w, UNUSED int32_t *sums) {
  __asm__(
      ".syntax unified\n\tpush {r3-r7, lr}\n\tmov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\t"
      "mov r7, r11\n\tpush {r4-r7}\n\tmov r12, r1\n\tmovs r1, r2\n\tmovs r2, #0\n\t"
      "mov r8, r2\n\tmov r9, r2\n\tmov r10, r2\n\tmov r11, r2\n\t"
      "1:\n\tldmia r1!, {r4-r7}\n\t" ONE_TAP("0", "r4") ONE_TAP("1", "r5") ONE_TAP("2", "r6")
          ONE_TAP("3", "r7")
      "adds r0, #4\n\tcmp r0, r12\n\tbne 1b\n\t"
      "mov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\tmov r7, r11\n\tldr r3, [sp, #16]\n\t"
      "stmia r3!, {r4-r7}\n\tpop {r4-r7}\n\tmov r8, r4\n\tmov r9, r5\n\tmov r10, r6\n\t"
      "mov r11, r7\n\tpop {r3-r7, pc}\n\t");
}

static inline int32_t sum_of(const int8_t *x, int32_t count) {
  int32_t sum = 0;
  for (const int8_t *end = x + (count & ~3); x != end; x += FOUR) sum += x[0] + x[1] + x[2] + x[3];
  for (const int8_t *end = x + (count & 3); x != end;) sum += *x++;
  return sum;
}

// gemm_taps_s8.h has the arithmetic. `stage` follows the bias.
static inline int8_t narrow(uint32_t s, const int32_t *stage, int32_t words,
                            const pl_linear_params *params) {
  uint32_t more = 0;
  if (words == PL_TAPS_SIGNED_STAGE) {
    if (s < (uint32_t)stage[0]) more = (uint32_t)stage[1];
    stage += 2;
  }
  if (s > (uint32_t)stage[0]) {
    return (int8_t)((int32_t)s < 0 ? params->activation_min : params->activation_max);
  }
  const uint32_t fine = (s >> 5) * (uint32_t)stage[2] >> 11;
  return (int8_t)((s * (uint32_t)stage[1] + fine + more + (uint32_t)stage[3]) >> 24);
}

PL_INLINE pl_status multiply_rows(const pl_linear_params *params, const pl_linear_dims *dims,
                                  const pl_linear_data *data, int32_t words) {
  const int32_t depth = dims->input_channels;
  const int32_t whole = depth & ~3;
  const int8_t *x = data->input;
  int8_t *y = data->output;
  for (int32_t rows = dims->rows; rows > 0; --rows, x += depth, y += dims->output_channels) {
    const int32_t of_offset = sum_of(x, depth) * 128;
    const int32_t *w = (const int32_t *)(const void *)data->weight;
    const int32_t *stage = data->bias;
    for (int32_t c = 0; c < dims->output_channels; c += FOUR, stage += FOUR * words) {
      int32_t sums[FOUR] = {0};
      if (whole > 0) multiply(x, x + whole, w, sums);
      w += whole;
      for (int32_t i = whole; i < depth; ++i, ++w) {
        for (int32_t k = 0; k < FOUR; ++k) sums[k] += x[i] * (*w >> 8 * k);
      }
      const int32_t left = dims->output_channels - c;
      uint32_t above = 0;
      for (int32_t k = FOUR - 1; k >= 0; --k) {
        const int32_t *of = stage + k * words;
        const uint32_t offset = k < FOUR - 1 ? (uint32_t)of_offset : 0;
        const uint32_t sum = (uint32_t)sums[k] - (above << 8) - offset;
        above = (uint32_t)sums[k];
        if (k < left) y[c + k] = narrow(sum + (uint32_t)of[0], of + 1, words, params);
      }
    }
  }
  return PL_OK;
}

pl_status pl_linear_digits_s8(const pl_context *ctx, const pl_linear_params *params,
                              const pl_linear_dims *dims, const pl_linear_data *data) {
  (void)ctx;
  return multiply_rows(params, dims, data, PL_TAPS_STAGE);
}

pl_status pl_linear_signed_digits_s8(const pl_context *ctx, const pl_linear_params *params,
                                     const pl_linear_dims *dims, const pl_linear_data *data) {
  (void)ctx;
  return multiply_rows(params, dims, data, PL_TAPS_SIGNED_STAGE);
}
