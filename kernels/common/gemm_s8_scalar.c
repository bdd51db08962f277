// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/optimized.h"

#include "kernels/common/gemm_s8.h"

// Output channels with a shared load of x, and those requantized together.
#define CHANNELS 4
#define BATCH 16

// Channels of a block computed without a fourth one.
#define THREE 3

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

// Not in place of the sums: these must stay in registers until then.
static inline void store(sums s, int32_t *acc) {
  acc[0] = s.c0;
  acc[1] = s.c1;
  acc[2] = s.c2;
  acc[3] = s.c3;
}

#if __ARM_ARCH_ISA_THUMB == 2 && !defined(PL_ONE_REGISTER_LESS)
// A product takes two instructions. Two rows share the load of the weight, or two blocks of
// channels share the load of the row. The loops use all fourteen registers. GCC spills and adds to
// pointers: 65 instructions for 32 products of two rows. These are 59.
#define PRODUCTS(A, B, X, Y, W, V)                                   \
  "mla %[" A "], %[" X "], %[" W "], %[" A "]\n\tmla %[" B "], %[" Y \
  "],"                                                               \
  " %[" V "], %[" B "]\n\t"
#define SUMS                                                                                \
  [a0] "+r"(a->c0), [a1] "+r"(a->c1), [a2] "+r"(a->c2), [a3] "+r"(a->c3), [b0] "+r"(b->c0), \
      [b1] "+r"(b->c1), [b2] "+r"(b->c2), [b3] "+r"(b->c3)
#define TO_END "ldr %[v], %[end]\n\tcmp %[x0], %[v]\n\tbne 1b\n\t"

#define WEIGHT(AT, A, B) "ldrsb %[w], [%[at]" AT "\n\t" PRODUCTS(A, B, "x", "v", "w", "w")
#define STEP(W0, W1, W2, W3)                                                      \
  "ldrsb %[x], [%[x0]], #1\n\tldrsb %[v], [%[x1]], #1\n\t" WEIGHT(W0, "a0", "b0") \
      WEIGHT(", #-" W1 "]", "a1", "b1") WEIGHT(", #-" W2 "]", "a2", "b2")         \
          WEIGHT(", #-" W3 "]", "a3", "b3")

// Four steps of two rows and four channels at a time, up to `end`, at least once.
static inline void multiply_4_steps(sums *a, sums *b, const int8_t **x0, const int8_t **x1,
                                    const int8_t **weight, const int8_t *end) {
  int32_t x, v, w;
  __asm__("1:\n\t" STEP("], #16", "15", "14", "13") STEP(", #-12]", "11", "10", "9")
              STEP(", #-8]", "7", "6", "5") STEP(", #-4]", "3", "2", "1") TO_END
          : SUMS, [x0] "+r"(*x0), [x1] "+r"(*x1), [at] "+r"(*weight), [x] "=&r"(x), [v] "=&r"(v),
            [w] "=&r"(w)
          : [end] "m"(end)
          : "cc", "memory");
}

#define WEIGHTS(AT, A, B) \
  "ldrsb %[w], [%[w0]" AT "\n\tldrsb %[v], [%[w1]" AT "\n\t" PRODUCTS(A, B, "x", "x", "w", "v")
#define STEP_OF_8(W0, W1, W2, W3)                                                          \
  "ldrsb %[x], [%[x0]], #1\n\t" WEIGHTS(W0, "a0", "b0") WEIGHTS(", #-" W1 "]", "a1", "b1") \
      WEIGHTS(", #-" W2 "]", "a2", "b2") WEIGHTS(", #-" W3 "]", "a3", "b3")

// Four steps of one row and two blocks of channels at a time.
static inline void multiply_4_steps_by_8(sums *a, sums *b, const int8_t **x0, const int8_t **w0,
                                         const int8_t **w1, const int8_t *end) {
  int32_t x, v, w;
  __asm__("1:\n\t" STEP_OF_8("], #16", "15", "14", "13") STEP_OF_8(", #-12]", "11", "10", "9")
              STEP_OF_8(", #-8]", "7", "6", "5") STEP_OF_8(", #-4]", "3", "2", "1") TO_END
          : SUMS, [x0] "+r"(*x0), [w0] "+r"(*w0), [w1] "+r"(*w1), [x] "=&r"(x), [v] "=&r"(v),
            [w] "=&r"(w)
          : [end] "m"(end)
          : "cc", "memory");
}

// Eight channels of a row; returns where the weights go on.
static inline const int8_t *multiply_by_8(const pl_gemm_s8_layer *layer, const int8_t *row,
                                          const int8_t *weight, const int32_t *bias, int32_t *acc) {
  sums a = load(bias);
  sums b = load(bias + CHANNELS);
  const int8_t *w1 = weight + CHANNELS * layer->depth;
  const int8_t *x = row;
  const int32_t whole = layer->depth & ~3;
  if (whole > 0) multiply_4_steps_by_8(&a, &b, &x, &weight, &w1, x + whole);
  for (const int8_t *end = row + layer->depth; x != end; ++x) {
    step(&a, *x, weight);
    step(&b, *x, w1);
    weight += CHANNELS;
    w1 += CHANNELS;
  }
  store(a, acc);
  store(b, acc + CHANNELS);
  return w1;
}
#else
static inline void multiply_4_steps(sums *a, sums *b, const int8_t **x0, const int8_t **x1,
                                    const int8_t **weight, const int8_t *end) {
  const int8_t *x = *x0;
  const int8_t *y = *x1;
  const int8_t *w = *weight;
  do {
    step(a, x[0], w);
    step(b, y[0], w);
    step(a, x[1], w + CHANNELS);
    step(b, y[1], w + CHANNELS);
    step(a, x[2], w + 2 * CHANNELS);
    step(b, y[2], w + 2 * CHANNELS);
    step(a, x[3], w + 3 * CHANNELS);
    step(b, y[3], w + 3 * CHANNELS);
    x += 4;
    y += 4;
    w += 4 * CHANNELS;
  } while (x != end);
  *x0 = x;
  *x1 = y;
  *weight = w;
}
#endif

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// One channel of a block, where the others are of no value.
static int32_t multiply_channel(const int8_t *x, int32_t depth, const int8_t *weight,
                                int32_t bias) {
  int32_t sum = bias;
  for (const int8_t *end = x + (depth & ~3); x != end; x += 4) {
    sum += x[0] * weight[0];
    sum += x[1] * weight[CHANNELS];
    sum += x[2] * weight[2 * CHANNELS];
    sum += x[3] * weight[3 * CHANNELS];
    weight += 4 * CHANNELS;
  }
  for (const int8_t *end = x + (depth & 3); x != end; weight += CHANNELS) sum += *x++ * *weight;
  return sum;
}

// Three channels of a block. A separate function, so other blocks keep their registers.
static __attribute__((noinline)) void multiply_3(const int8_t *x, int32_t depth,
                                                 const int8_t *weight, const int32_t *bias,
                                                 int32_t *acc) {
  int32_t sum0 = bias[0];
  int32_t sum1 = bias[1];
  int32_t sum2 = bias[2];
  for (const int8_t *end = x + depth; x != end; weight += CHANNELS) {
    const int32_t value = *x++;
    sum0 += value * weight[0];
    sum1 += value * weight[1];
    sum2 += value * weight[2];
  }
  acc[0] = sum0;
  acc[1] = sum1;
  acc[2] = sum2;
}

static void multiply_2_rows(const pl_gemm_s8_layer *layer, const int8_t *row0, const int8_t *row1,
                            int8_t *y0, int8_t *y1) {
  int32_t acc0[BATCH];
  int32_t acc1[BATCH];
  const int8_t *weight = layer->weight;
  for (int32_t begin = 0; begin < layer->channels; begin += BATCH) {
    const int32_t count = smaller(layer->channels - begin, BATCH);
    int32_t i = 0;
    for (; i < count - 1; i += CHANNELS) {
      sums a = load(layer->bias + begin + i);
      sums b = a;
      const int8_t *x0 = row0;
      const int8_t *x1 = row1;
      const int32_t whole = layer->depth & ~3;
      if (whole > 0) multiply_4_steps(&a, &b, &x0, &x1, &weight, x0 + whole);
      for (const int8_t *end = row0 + layer->depth; x0 != end; weight += CHANNELS) {
        step(&a, *x0++, weight);
        step(&b, *x1++, weight);
      }
      store(a, acc0 + i);
      store(b, acc1 + i);
    }
    if (i < count) {
      acc0[i] = multiply_channel(row0, layer->depth, weight, layer->bias[begin + i]);
      acc1[i] = multiply_channel(row1, layer->depth, weight, layer->bias[begin + i]);
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
    int32_t i = 0;
#if __ARM_ARCH_ISA_THUMB == 2 && !defined(PL_ONE_REGISTER_LESS)
    for (; i < count - CHANNELS; i += 2 * CHANNELS) {
      weight = multiply_by_8(layer, row, weight, layer->bias + begin + i, acc + i);
    }
#endif
    for (; i < count - THREE; i += CHANNELS) {
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
    if (i == count - THREE) {
      multiply_3(row, layer->depth, weight, layer->bias + begin + i, acc + i);
      i = count;
    }
    for (int32_t c = 0; i < count; ++c, ++i) {
      acc[i] = multiply_channel(row, layer->depth, weight + c, layer->bias[begin + i]);
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
