// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_s8.h"

// Output channels that share a load of x, and those that are requantized together.
#define CHANNELS 4
#define BATCH 16

typedef struct {
  int32_t c0, c1, c2, c3;
} sums;

static inline void step(sums *s, int32_t x, const int8_t *weight) {
  s->c0 += x * weight[0];
  s->c1 += x * weight[1];
  s->c2 += x * weight[2];
  s->c3 += x * weight[3];
}

static inline sums load(const int32_t *bias) { return (sums){bias[0], bias[1], bias[2], bias[3]}; }

// Not in place of the sums, which are to stay in registers until then.
static inline void store(sums s, int32_t *acc) {
  acc[0] = s.c0;
  acc[1] = s.c1;
  acc[2] = s.c2;
  acc[3] = s.c3;
}

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

static void multiply_2_rows(const pl_gemm_s8_layer *layer, const int8_t *row0, const int8_t *row1,
                            int8_t *y0, int8_t *y1) {
  int32_t acc0[BATCH];
  int32_t acc1[BATCH];
  const int8_t *weight = layer->weight;
  for (int32_t begin = 0; begin < layer->channels; begin += BATCH) {
    const int32_t count = smaller(layer->channels - begin, BATCH);
    for (int32_t i = 0; i < count; i += CHANNELS) {
      sums a = load(layer->bias + begin + i);
      sums b = a;
      const int8_t *x0 = row0;
      const int8_t *x1 = row1;
      for (const int8_t *end = x0 + (layer->depth & ~3); x0 != end; weight += 4 * CHANNELS) {
        step(&a, x0[0], weight);
        step(&b, x1[0], weight);
        step(&a, x0[1], weight + CHANNELS);
        step(&b, x1[1], weight + CHANNELS);
        step(&a, x0[2], weight + 2 * CHANNELS);
        step(&b, x1[2], weight + 2 * CHANNELS);
        step(&a, x0[3], weight + 3 * CHANNELS);
        step(&b, x1[3], weight + 3 * CHANNELS);
        x0 += 4;
        x1 += 4;
      }
      for (const int8_t *end = row0 + layer->depth; x0 != end; weight += CHANNELS) {
        step(&a, *x0++, weight);
        step(&b, *x1++, weight);
      }
      store(a, acc0 + i);
      store(b, acc1 + i);
    }
    pl_requantize_channels(&layer->output, begin, count, acc0, y0 + begin);
    pl_requantize_channels(&layer->output, begin, count, acc1, y1 + begin);
  }
}

static void multiply_1_row(const pl_gemm_s8_layer *layer, const int8_t *row, int8_t *y) {
  int32_t acc[BATCH];
  const int8_t *weight = layer->weight;
  for (int32_t begin = 0; begin < layer->channels; begin += BATCH) {
    const int32_t count = smaller(layer->channels - begin, BATCH);
    for (int32_t i = 0; i < count; i += CHANNELS) {
      sums a = load(layer->bias + begin + i);
      const int8_t *x = row;
      for (const int8_t *end = x + (layer->depth & ~3); x != end; weight += 4 * CHANNELS) {
        step(&a, x[0], weight);
        step(&a, x[1], weight + CHANNELS);
        step(&a, x[2], weight + 2 * CHANNELS);
        step(&a, x[3], weight + 3 * CHANNELS);
        x += 4;
      }
      for (const int8_t *end = row + layer->depth; x != end; weight += CHANNELS) {
        step(&a, *x++, weight);
      }
      store(a, acc + i);
    }
    pl_requantize_channels(&layer->output, begin, count, acc, y + begin);
  }
}

void pl_gemm_s8(const pl_gemm_s8_layer *layer, int32_t rows, const int8_t *x, int32_t x_stride,
                int8_t *y, int32_t y_stride) {
  for (; rows >= 2; rows -= 2) {
    multiply_2_rows(layer, x, x + x_stride, y, y + y_stride);
    x += 2 * x_stride;
    y += 2 * y_stride;
  }
  if (rows > 0) multiply_1_row(layer, x, y);
}
