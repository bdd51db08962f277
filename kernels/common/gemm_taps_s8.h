// SPDX-License-Identifier: Apache-2.0
// Matrix products for cores with 16-bit Thumb instructions (M0, M0+, M23), in place of gemm_s8.h if
// kernels/common/gemm_taps.py finds them exact.
//
// One MULS makes two products. With x = x0 + 2^16 * x1 and w = w1 + 2^16 * w0 the upper half of x *
// w (modulo 2^32) is x0 * w0 + x1 * w1, one too small if x0 * w1 is negative. ASRS by 16 leaves it,
// and puts bit 15, the one to add, into the carry: ADCS adds both. This is exact unless two weights
// of a word are -128.
//
// Four values of a row are two words, x0 + 2^16 * x2 and x1 + 2^16 * x3. Weights are bytes in
// flash. Those of a block of channels are expanded to words in scratch, and rows two at a time.
//
// The last stage is a step function of the sum, with one step for each result. With s = sum - first
// it is (s * high + ((s >> 5) * fine >> 11) + offset) >> 24, modulo 2^32, for s of at most `limit`.
// `first` is in the bias. If results are below the zero point, sums below `turn` have another
// offset, because ties go away from zero. kernels/common/steps.py finds the constants.
#ifndef KERNELS_COMMON_GEMM_TAPS_S8_H_
#define KERNELS_COMMON_GEMM_TAPS_S8_H_

#include <stdint.h>

// Words of a channel's last stage: bias, limit, high, fine, offset. `signed` ones have `turn` and
// the difference of the offset after the bias.
#define PL_TAPS_STAGE 5
#define PL_TAPS_SIGNED_STAGE 7

// Arguments of a multiplication, in the order of its loads.
typedef struct {
  const uint32_t *x;  // two rows: [depth / 2][2], depth a multiple of 4
  const uint32_t *x_end;
  const uint32_t *weight;  // [channels]: bias, [depth / 2] words, other words of the last stage
  int8_t *y;               // results of the first row
  int8_t *y_end;
  int32_t y_step;       // from the first row to the second; 0 for one row
  int32_t low_xor_top;  // of the range of the results
  int32_t top;
  int32_t terms[2];  // of the rows, for pl_multiply_taps_and_terms_s8: added to all their sums
} pl_taps_call;

typedef void pl_multiply_taps(const pl_taps_call *call);
pl_multiply_taps pl_multiply_taps_s8;
pl_multiply_taps pl_multiply_signed_taps_s8;
pl_multiply_taps pl_multiply_taps_and_terms_s8;  // with the constants of signed ones

typedef struct {
  const int8_t *weight;  // [channels][depth]: w2, w3, w0, w1 of four taps, each + 128
  const int32_t *stage;  // [channels][stage_words]
  int32_t depth;         // a multiple of 4
  int32_t channels;
  int32_t block;  // channels expanded together
  int32_t stage_words;
  pl_multiply_taps *multiply;
} pl_gemm_taps;

// Bytes of scratch for two rows, and for the weights of a block.
static inline int32_t pl_taps_rows_bytes(int32_t depth) { return 4 * depth; }
static inline int32_t pl_taps_block_bytes(const pl_gemm_taps *layer) {
  return layer->block * 4 * (layer->depth / 2 + layer->stage_words);
}

// Expands the weights of channels from `channel` on. Returns their count.
int32_t pl_expand_weights_s8(const pl_gemm_taps *layer, int32_t channel, uint32_t *to);

// Expands `count` values of two rows. The values up to the next multiple of 4 are 0.
void pl_expand_rows_s8(const int8_t *a, const int8_t *b, int32_t count, uint32_t *to);

#endif  // KERNELS_COMMON_GEMM_TAPS_S8_H_
