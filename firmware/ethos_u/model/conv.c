// SPDX-License-Identifier: Apache-2.0
// OP_CONV.
#include <string.h>

#include "firmware/ethos_u/model/convolution.h"
#include "firmware/ethos_u/model/operations.h"

enum {
  // Products that surely fit 32 bits together: 9-bit weights with 9-bit or 16-bit activations.
  TERMS8 = 32768,
  TERMS16 = 256,
};

// Four dot products at once. `n` is a multiple of 16 or ends in zeros that make it one.
static void dot4(const int16_t *restrict x, const int16_t *restrict w, int32_t step, int32_t n,
                 int32_t *restrict sums) {
  const int16_t *restrict w1 = w + step;
  const int16_t *restrict w2 = w1 + step;
  const int16_t *restrict w3 = w2 + step;
  int32_t s0 = 0;
  int32_t s1 = 0;
  int32_t s2 = 0;
  int32_t s3 = 0;
  for (int32_t i = 0; i < n; ++i) {
    s0 += x[i] * w[i];
    s1 += x[i] * w1[i];
    s2 += x[i] * w2[i];
    s3 += x[i] * w3[i];
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

// The window in one piece: a row itself where it is dense, else a copy.
static const int16_t *gather(const npu_convolution *convolution, int32_t x) {
  const npu_window *window = &convolution->window;
  const int32_t depth = convolution->ifm.depth;
  const int32_t offset = x * depth;
  const int32_t columns = window->dilation_x == 1 ? 1 : window->kernel_width;
  const int32_t run = window->kernel_width / columns * depth;
  if (window->kernel_height == 1 && columns == 1) {
    return convolution->taps[0] + offset;
  }
  int16_t *patch = convolution->patch;
  for (int32_t ky = 0; ky < window->kernel_height; ++ky) {
    const int16_t *row = convolution->taps[ky] + offset;
    for (int32_t kx = 0; kx < columns; ++kx) {
      memcpy(patch, row + kx * window->dilation_x * depth, (size_t)run * sizeof(patch[0]));
      patch += run;
    }
  }
  return convolution->patch;
}

static void accumulate(const npu_convolution *convolution, int32_t x, int32_t channels) {
  const int16_t *patch = gather(convolution, x);
  const int32_t step = convolution->weight_step;
  const int32_t terms = convolution->ifm.element == 2 ? TERMS16 : TERMS8;
  for (int32_t o = 0; o < channels; o += 4) {
    const int16_t *weights = convolution->weights + o * step;
    const int32_t lanes = channels - o < 4 ? channels - o : 4;
    int64_t sums[4] = {0, 0, 0, 0};
    for (int32_t from = 0; from < step; from += terms) {
      int32_t partial[4];
      dot4(patch + from, weights + from, step, step - from < terms ? step - from : terms, partial);
      for (int lane = 0; lane < 4; ++lane) {
        sums[lane] += partial[lane];
      }
    }
    for (int32_t lane = 0; lane < lanes; ++lane) {
      convolution->accumulators[o + lane] = sums[lane];
    }
  }
}

bool npu_run_conv(npu_machine *machine) {
  npu_convolution convolution;
  if (!npu_convolution_decode(machine, NPU_DEPTH_FIRST, &convolution)) {
    return false;
  }
  return machine->regions == NULL || npu_convolution_run(machine, &convolution, accumulate);
}
