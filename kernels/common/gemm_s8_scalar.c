// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_s8.h"

// Sums of one row for the output channels that share a load of x.
typedef struct {
  int32_t c0, c1, c2, c3;
} sums;

#define CHANNELS 4

static inline void step(sums *s, int32_t x, const int8_t *weight) {
  s->c0 += x * weight[0];
  s->c1 += x * weight[1];
  s->c2 += x * weight[2];
  s->c3 += x * weight[3];
}

static inline sums load_bias(const int32_t *bias) {
  return (sums){bias[0], bias[1], bias[2], bias[3]};
}

static void store(const pl_gemm_s8_layer *layer, int32_t channel, sums s, int8_t *y) {
  // The copy leaves the sums themselves in registers.
  const int32_t acc[CHANNELS] = {s.c0, s.c1, s.c2, s.c3};
  const int32_t left = layer->channels - channel;
  pl_requantize_channels(&layer->output, channel, left < CHANNELS ? left : CHANNELS, acc,
                         y + channel);
}

static void multiply_2_rows(const pl_gemm_s8_layer *layer, const int8_t *row0, const int8_t *row1,
                            int8_t *y0, int8_t *y1) {
  const int8_t *weight = layer->weight;
  for (int32_t channel = 0; channel < layer->channels; channel += CHANNELS) {
    sums a = load_bias(layer->bias + channel);
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
    store(layer, channel, a, y0);
    store(layer, channel, b, y1);
  }
}

static void multiply_1_row(const pl_gemm_s8_layer *layer, const int8_t *row, int8_t *y) {
  const int8_t *weight = layer->weight;
  for (int32_t channel = 0; channel < layer->channels; channel += CHANNELS) {
    sums a = load_bias(layer->bias + channel);
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
    store(layer, channel, a, y);
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
