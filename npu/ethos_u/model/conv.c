// SPDX-License-Identifier: Apache-2.0
// OP_CONV.
#include <string.h>

#include "npu/ethos_u/model/accumulate.h"
#include "npu/ethos_u/model/convolution.h"
#include "npu/ethos_u/model/operations.h"

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
  const int32_t terms = convolution->ifm.element == 2 ? NPU_TERMS_16 : NPU_TERMS_8;
  for (int32_t o = 0; o < channels; o += 4) {
    const int16_t *weights = convolution->weights + o * step;
    const int32_t lanes = channels - o < 4 ? channels - o : 4;
    int64_t sums[4] = {0, 0, 0, 0};
    for (int32_t from = 0; from < step; from += terms) {
      int32_t partial[4];
      npu_dot4(patch + from, weights + from, step, step - from < terms ? step - from : terms,
               partial);
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
