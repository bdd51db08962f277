// SPDX-License-Identifier: Apache-2.0
// OP_DEPTHWISE.
#include "npu/ethos_u/model/accumulate.h"
#include "npu/ethos_u/model/convolution.h"
#include "npu/ethos_u/model/operations.h"

enum { LANES = 128 };  // channels of an OFM block at most

static void accumulate(const npu_convolution *convolution, int32_t x, int32_t channels) {
  const npu_window *window = &convolution->window;
  const int32_t taps = window->kernel_height * window->kernel_width;
  int64_t *accumulators = convolution->accumulators;
  for (int32_t i = 0; i < channels; ++i) {
    accumulators[i] = 0;
  }
  for (int32_t from = 0; from < taps; from += NPU_TERMS_16) {
    int32_t sums[LANES];
    for (int32_t i = 0; i < channels; ++i) {
      sums[i] = 0;
    }
    const int32_t end = taps - from < NPU_TERMS_16 ? taps : from + NPU_TERMS_16;
    int32_t ky = from / window->kernel_width;
    int32_t kx = from % window->kernel_width;
    for (int32_t tap = from; tap < end; ++tap) {
      const int32_t column = x + kx * window->dilation_x;
      npu_multiply_add(convolution->taps[ky] + column * channels,
                       convolution->weights + tap * convolution->weight_step, channels, sums);
      if (++kx == window->kernel_width) {
        kx = 0;
        ++ky;
      }
    }
    for (int32_t i = 0; i < channels; ++i) {
      accumulators[i] += sums[i];
    }
  }
}

bool npu_run_depthwise(npu_machine *machine) {
  npu_convolution convolution;
  if (!npu_convolution_decode(machine, NPU_DEPTHWISE, &convolution)) {
    return false;
  }
  return machine->regions == NULL || npu_convolution_run(machine, &convolution, accumulate);
}
