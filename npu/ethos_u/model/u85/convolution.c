// SPDX-License-Identifier: Apache-2.0
// OP_CONV and OP_DEPTHWISE of U85.
#include <string.h>

#include "npu/ethos_u/model/accumulate.h"
#include "npu/ethos_u/model/u85/kernel.h"
#include "npu/ethos_u/model/u85/weights.h"

enum { STEP_ROUNDING = 16 };  // weights of a channel and patches are padded to this many elements

enum { WIDE_ROW, PADDED, WEIGHTS, PATCH, ROW, DECODER, BUFFERS };

typedef struct {
  npu_u85_window window;
  npu_u85_accumulators accumulators;
  npu_u85_weights weights;
  npu_u85_input ifm2;  // weights from IFM2
  bool from_ifm2;
  int32_t step;     // conv: weights from channel to channel; depthwise: from element to element
  int64_t *wide;    // a row of the padded IFM
  int16_t *padded;  // the padded IFM
  int16_t *values;  // weights
  int16_t *patch;   // a window
  int64_t *row;     // a row of accumulators
  npu_weight_stream *decoder;
} convolution;

static bool check_map(npu_machine *machine, const npu_feature_map *map, uint32_t key) {
  if (map->element > 2 || (map->element == 2 && !map->is_signed)) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, key, "activation_precision", map->element);
  }
  const bool fits = map->element == 2 ? map->zero_point == 0
                                      : map->zero_point >= INT8_MIN && map->zero_point <= UINT8_MAX;
  return fits || npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, key, "zero point", map->zero_point);
}

static bool decode(npu_machine *machine, bool depthwise, convolution *conv) {
  npu_u85_window *window = &conv->window;
  npu_u85_accumulators *accumulators = &conv->accumulators;
  int32_t shape[3];
  npu_u85_shape(machine, shape);
  const int32_t ifm_depth = (int32_t)npu_register(machine, NPU_SET_IFM_DEPTH_M1) + 1;
  if (npu_ok(machine) && depthwise && ifm_depth != shape[2]) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_IFM_DEPTH_M1,
                    "depth of a depthwise IFM, not the OFM's", ifm_depth);
  }
  if (!npu_u85_window_decode(machine, shape[0], shape[1], ifm_depth, window) ||
      !check_map(machine, &window->ifm.map, NPU_SET_IFM_PRECISION) ||
      !npu_u85_accumulators_decode(machine, accumulators)) {
    return false;
  }
  const int32_t taps = window->kernel_height * window->kernel_width;
  if (conv->from_ifm2) {
    if (taps != 1 || accumulators->start == NPU_U85_FROM_IFM2) {
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_KERNEL_HEIGHT_M1,
                      "kernel elements, with weights from IFM2", taps);
    }
    return npu_u85_input_decode(machine, NPU_IFM2, 1, shape[2], ifm_depth, &conv->ifm2) &&
           check_map(machine, &conv->ifm2.map, NPU_SET_IFM2_PRECISION);
  }
  conv->weights = (npu_u85_weights){
      .depthwise = depthwise,
      .kernel_height = window->kernel_height,
      .kernel_width = window->kernel_width,
      .stride_y = window->stride_y,
      .stride_x = window->stride_x,
      .dilation_y = window->dilation_y,
      .dilation_x = window->dilation_x,
      .ofm_depth = shape[2],
      .ifm_depth = depthwise ? 1 : ifm_depth,
      .ifm_bytes = window->ifm.map.element,
  };
  return npu_u85_weights_decode(machine, &conv->weights);
}

static bool take(npu_machine *machine, bool depthwise, convolution *conv) {
  const npu_u85_window *window = &conv->window;
  const uint64_t depth = (uint64_t)window->ifm.map.depth;
  const uint64_t channels = (uint64_t)conv->accumulators.depth;
  const uint64_t taps = (uint64_t)window->kernel_height * (uint64_t)window->kernel_width;
  const uint64_t row = (uint64_t)window->width * depth;
  uint64_t step = channels;
  uint64_t weights = taps * channels;
  if (!depthwise) {
    step = (taps * depth + STEP_ROUNDING - 1) / STEP_ROUNDING * STEP_ROUNDING;
    weights = step * ((channels + 3) & ~(uint64_t)3);  // channels are taken four at a time
  }
  const uint64_t padded = row * (uint64_t)window->height;
  if (weights > INT32_MAX || padded > INT32_MAX) {
    return npu_fail(machine, ETHOS_U_ERROR_WORKSPACE, ETHOS_U_NO_FIELD, "elements needed",
                    (int64_t)(weights + padded));
  }
  const uint64_t sizes[BUFFERS] = {
      [WIDE_ROW] = (conv->from_ifm2 ? channels * depth + row : row) * sizeof(int64_t),
      [PADDED] = padded * sizeof(int16_t),
      [WEIGHTS] = weights * sizeof(int16_t),
      [PATCH] = step * sizeof(int16_t),
      [ROW] = (uint64_t)conv->accumulators.width * channels * sizeof(int64_t),
      [DECODER] = sizeof(npu_weight_stream),
  };
  void *buffers[BUFFERS];
  if (!npu_u85_take(machine, sizes, BUFFERS, buffers)) {
    return false;
  }
  conv->step = (int32_t)step;
  conv->wide = buffers[WIDE_ROW];
  conv->padded = buffers[PADDED];
  conv->values = buffers[WEIGHTS];
  conv->patch = buffers[PATCH];
  conv->row = buffers[ROW];
  conv->decoder = buffers[DECODER];
  machine->operation.counts.macs = (uint64_t)conv->accumulators.height *
                                   (uint64_t)conv->accumulators.width * channels * taps *
                                   (depthwise ? 1 : depth);
  if (conv->values != NULL) {
    memset(conv->values, 0, (size_t)sizes[WEIGHTS]);
    memset(conv->patch, 0, (size_t)sizes[PATCH]);
  }
  return true;
}

static bool read_weights(npu_machine *machine, bool depthwise, convolution *conv) {
  if (!conv->from_ifm2) {
    return npu_u85_weights_read(machine, &conv->weights, conv->decoder, depthwise ? 1 : conv->step,
                                depthwise ? conv->step : 1, conv->values);
  }
  const npu_feature_map *map = &conv->ifm2.map;
  npu_u85_load_row(&conv->ifm2, 0, conv->wide);
  for (int32_t o = 0; o < map->width; ++o) {
    for (int32_t i = 0; i < map->depth; ++i) {
      conv->values[(int64_t)o * conv->step + i] = (int16_t)conv->wide[(int64_t)o * map->depth + i];
    }
  }
  return true;
}

// The sums of the window at column x, top left of the padded IFM at `top`.
static void add_window(const convolution *conv, int32_t top, int32_t x, int64_t *sums) {
  const npu_u85_window *window = &conv->window;
  const int32_t depth = window->ifm.map.depth;
  const int32_t channels = conv->accumulators.depth;
  int16_t *patch = conv->patch;
  for (int32_t ky = 0; ky < window->kernel_height; ++ky) {
    const int32_t y = top + ky * window->dilation_y;
    for (int32_t kx = 0; kx < window->kernel_width; ++kx) {
      const int32_t column = x + kx * window->dilation_x;
      const int64_t from = ((int64_t)y * window->width + column) * depth;
      memcpy(patch, conv->padded + from, (size_t)depth * sizeof(patch[0]));
      patch += depth;
    }
  }
  const int32_t terms = window->ifm.map.element == 2 ? NPU_TERMS_16 : NPU_TERMS_8;
  if (conv->from_ifm2 && conv->ifm2.map.element == 2) {
    for (int32_t o = 0; o < channels; ++o) {
      const int16_t *weights = conv->values + (int64_t)o * conv->step;
      for (int32_t i = 0; i < conv->step; ++i) {
        sums[o] += (int64_t)conv->patch[i] * weights[i];
      }
    }
    return;
  }
  for (int32_t o = 0; o < channels; o += 4) {
    const int16_t *weights = conv->values + (int64_t)o * conv->step;
    const int32_t lanes = channels - o < 4 ? channels - o : 4;
    for (int32_t from = 0; from < conv->step; from += terms) {
      const int32_t rest = conv->step - from;
      int32_t partial[4];
      npu_dot4(conv->patch + from, weights + from, conv->step, rest < terms ? rest : terms,
               partial);
      for (int32_t lane = 0; lane < lanes; ++lane) {
        sums[o + lane] += partial[lane];
      }
    }
  }
}

static void add_depthwise(const convolution *conv, int32_t top, int32_t x, int64_t *sums) {
  const npu_u85_window *window = &conv->window;
  const int32_t channels = conv->accumulators.depth;
  const int16_t *weights = conv->values;
  for (int32_t ky = 0; ky < window->kernel_height; ++ky) {
    const int32_t y = top + ky * window->dilation_y;
    for (int32_t kx = 0; kx < window->kernel_width; ++kx, weights += conv->step) {
      const int32_t column = x + kx * window->dilation_x;
      const int64_t from = ((int64_t)y * window->width + column) * channels;
      for (int32_t c = 0; c < channels; ++c) {
        sums[c] += (int64_t)conv->padded[from + c] * weights[c];
      }
    }
  }
}

bool npu_u85_run_convolution(npu_machine *machine, bool depthwise, bool from_ifm2) {
  convolution conv = {.from_ifm2 = from_ifm2};
  if (!decode(machine, depthwise, &conv) || !take(machine, depthwise, &conv)) {
    return false;
  }
  if (machine->regions == NULL) {
    return true;
  }
  if (!read_weights(machine, depthwise, &conv)) {
    return false;
  }
  const npu_u85_window *window = &conv.window;
  const npu_u85_accumulators *accumulators = &conv.accumulators;
  const int64_t row_elements = (int64_t)window->width * window->ifm.map.depth;
  for (int32_t y = 0; y < window->height; ++y) {
    npu_u85_window_row(window, y, 0, conv.wide);
    for (int64_t i = 0; i < row_elements; ++i) {
      conv.padded[y * row_elements + i] = (int16_t)conv.wide[i];
    }
  }
  for (int32_t y = 0; y < accumulators->height; ++y) {
    int64_t *sums = npu_u85_accumulators_start(machine, accumulators, y, conv.row);
    for (int32_t x = 0; sums != NULL && x < accumulators->width; ++x) {
      (depthwise ? add_depthwise : add_window)(&conv, y * window->stride_y, x * window->stride_x,
                                               sums + (int64_t)x * accumulators->depth);
    }
    if (sums == NULL || !npu_u85_accumulators_finish(machine, accumulators, y, sums)) {
      return false;
    }
  }
  return true;
}
