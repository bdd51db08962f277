// SPDX-License-Identifier: Apache-2.0
// OP_POOL of U85.
#include "npu/ethos_u/model/u85/kernel.h"

enum {
  MAX = 0,
  AVERAGE = 1,
  REDUCE_SUM = 2,
  SUM = 3,
  NONE = 4,
  MIN = 5,
  ARGMAX_X = 6,
  ARGMAX_Y = 7,
};

typedef struct {
  npu_u85_window window;
  npu_u85_accumulators accumulators;
  uint32_t mode;
  int64_t *padded;  // the padded IFM
  int64_t *row;     // a row of accumulators
} pool;

// False if a window has only padding, along one axis.
static bool has_elements(int32_t windows, int32_t stride, int32_t taps, int32_t dilation,
                         int32_t pad, int32_t size) {
  for (int32_t i = 0; i < windows; ++i) {
    bool found = false;
    for (int32_t k = 0; k < taps; ++k) {
      const int32_t at = i * stride + k * dilation - pad;
      found = found || (at >= 0 && at < size);
    }
    if (!found) {
      return false;
    }
  }
  return true;
}

static bool decode(npu_machine *machine, pool *p) {
  npu_u85_accumulators *accumulators = &p->accumulators;
  npu_u85_window *window = &p->window;
  int32_t shape[3];
  npu_u85_shape(machine, shape);
  const uint32_t depth = npu_register(machine, NPU_SET_IFM_DEPTH_M1) + 1;
  if (p->mode != NONE &&
      !npu_u85_window_decode(machine, shape[0], shape[1],
                             p->mode == REDUCE_SUM ? (int32_t)depth : shape[2], window)) {
    return false;
  }
  if (window->ifm.map.element == 8) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_PRECISION,
                    "activation_precision, of a pool", 8);
  }
  if (p->mode == REDUCE_SUM &&
      (window->kernel_height != 1 || window->kernel_width != 1 || shape[2] != 1)) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_KERNEL_HEIGHT_M1,
                    "kernel, or OFM depth, of REDUCE_SUM", window->kernel_height);
  }
  if ((p->mode == MAX || p->mode == MIN || p->mode == AVERAGE) &&
      (!has_elements(shape[0], window->stride_y, window->kernel_height, window->dilation_y,
                     window->pad_top, window->ifm_height) ||
       !has_elements(shape[1], window->stride_x, window->kernel_width, window->dilation_x,
                     window->pad_left, window->ifm_width))) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_PAD_TOP,
                    "padding, all of a window", window->pad_top);
  }
  if (p->mode < ARGMAX_X) {
    return npu_u85_accumulators_decode(machine, accumulators);
  }
  // The sums are place << 16 | value. The scale 1, 16 leaves the place.
  const int32_t across = p->mode == ARGMAX_X ? window->kernel_height : window->kernel_width;
  npu_u85_scale scale;
  if (!npu_u85_scale_decode(machine, NPU_SET_OFM_SCALE, &scale)) {
    return false;
  }
  if (scale.multiplier != 1 || scale.shift != 16 || across != 1) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_SCALE,
                    "scale, or kernel, of ARGMAX", scale.shift);
  }
  accumulators->height = shape[0];
  accumulators->width = shape[1];
  accumulators->depth = shape[2];
  accumulators->writes = true;
  return npu_u85_output_decode(machine, NPU_U85_UNSCALED, &accumulators->output);
}

static int64_t divided(int64_t sum, int64_t taps) {
  const int64_t magnitude = sum < 0 ? -sum : sum;
  const int64_t quotient = (2 * magnitude + taps) / (2 * taps);
  return sum < 0 ? -quotient : quotient;
}

// The window of channel c at (top, left) of the padded IFM.
static int64_t reduce(const pool *p, int32_t top, int32_t left, int32_t c) {
  const npu_u85_window *window = &p->window;
  const int32_t depth = window->ifm.map.depth;
  int64_t result = 0;
  int64_t best = 0;
  int64_t taps = 0;
  for (int32_t ky = 0; ky < window->kernel_height; ++ky) {
    for (int32_t kx = 0; kx < window->kernel_width; ++kx) {
      const int32_t y = top + ky * window->dilation_y;
      const int32_t x = left + kx * window->dilation_x;
      const bool valid = npu_u85_in_ifm(window, y, x);
      if (!valid && p->mode != ARGMAX_X && p->mode != ARGMAX_Y) {
        continue;
      }
      const int64_t value = p->padded[((int64_t)y * window->width + x) * depth + c];
      if (p->mode == AVERAGE || p->mode == SUM) {
        result += value;
      } else if (taps == 0 || (p->mode == MIN ? value < best : value > best)) {
        best = value;
        result = p->mode >= ARGMAX_X ? ky * window->kernel_width + kx : value;
      }
      ++taps;
    }
  }
  return p->mode == AVERAGE && taps > 0 ? divided(result, taps) : result;
}

static int64_t combined(uint32_t mode, uint32_t start, int64_t sum, int64_t value) {
  if (start != NPU_U85_FROM_ZERO && mode == MAX) {
    return sum > value ? sum : value;
  }
  if (start != NPU_U85_FROM_ZERO && mode == MIN) {
    return sum < value ? sum : value;
  }
  return sum + value;
}

static int64_t sum_of_channels(const pool *p, int32_t y, int32_t x) {
  const int32_t depth = p->window.ifm.map.depth;
  const int64_t *values = p->padded + ((int64_t)y * p->window.width + x) * depth;
  int64_t sum = 0;
  for (int32_t c = 0; c < depth; ++c) {
    sum += values[c];
  }
  return sum;
}

static void add_row(const pool *p, int32_t y, int64_t *sums) {
  const npu_u85_window *window = &p->window;
  const npu_u85_accumulators *accumulators = &p->accumulators;
  for (int32_t x = 0; x < accumulators->width; ++x) {
    for (int32_t c = 0; c < accumulators->depth; ++c, ++sums) {
      const int32_t top = y * window->stride_y;
      const int32_t left = x * window->stride_x;
      *sums = p->mode == REDUCE_SUM
                  ? *sums + sum_of_channels(p, top, left)
                  : combined(p->mode, accumulators->start, *sums, reduce(p, top, left, c));
    }
  }
}

bool npu_u85_run_pool(npu_machine *machine, uint32_t mode) {
  pool p = {.mode = mode};
  if (!decode(machine, &p)) {
    return false;
  }
  const npu_u85_window *window = &p.window;
  const npu_u85_accumulators *accumulators = &p.accumulators;
  const uint64_t row = (uint64_t)window->width * (uint64_t)window->ifm.map.depth;
  const uint64_t sizes[2] = {
      (uint64_t)window->height * row * sizeof(int64_t),
      (uint64_t)accumulators->width * (uint64_t)accumulators->depth * sizeof(int64_t),
  };
  void *buffers[2];
  if (!npu_u85_take(machine, sizes, 2, buffers)) {
    return false;
  }
  if (machine->regions == NULL) {
    return true;
  }
  p.padded = buffers[0];
  p.row = buffers[1];
  for (int32_t y = 0; y < window->height; ++y) {
    npu_u85_window_row(window, y, 0, p.padded + (int64_t)y * (int64_t)row);
  }
  for (int32_t y = 0; y < accumulators->height; ++y) {
    int64_t *sums = npu_u85_accumulators_start(machine, accumulators, y, p.row);
    if (sums != NULL && mode != NONE) {
      add_row(&p, y, sums);
    }
    if (sums == NULL || !npu_u85_accumulators_finish(machine, accumulators, y, sums)) {
      return false;
    }
  }
  return true;
}
