// SPDX-License-Identifier: Apache-2.0
// OP_POOL: MAX, AVERAGE (also copies, rescales and LUTs, as 1x1 averages) and REDUCE_SUM.
#include "npu/ethos_u/model/cycles.h"
#include "npu/ethos_u/model/operations.h"
#include "npu/ethos_u/model/output.h"
#include "npu/ethos_u/model/window.h"

typedef enum { MAX = 0, AVERAGE = 1, REDUCE_SUM = 2 } pooling_mode;

typedef struct {
  npu_window window;
  npu_feature_map ifm;
  npu_output output;
  pooling_mode mode;
  // Buffers of NPU_CHUNK elements, and NPU_CHUNK_CHANNELS scales.
  int64_t *accumulators;
  npu_channel_scale *scales;
  int32_t *loaded;
  int32_t *values;
} pool;

static bool take_buffers(npu_machine *machine, pool *p) {
  enum {
    ACCUMULATORS = NPU_CHUNK * sizeof(int64_t),
    SCALES = NPU_CHUNK_CHANNELS * sizeof(npu_channel_scale),
    VALUES = NPU_CHUNK * sizeof(int32_t),
  };
  uint8_t *at = npu_take_buffers(machine, ACCUMULATORS + SCALES + 2 * VALUES);
  if (at == NULL) {
    return npu_ok(machine);
  }
  p->accumulators = (int64_t *)(void *)at;
  p->scales = (npu_channel_scale *)(void *)(at + ACCUMULATORS);
  p->loaded = (int32_t *)(void *)(at + ACCUMULATORS + SCALES);
  p->values = p->loaded + NPU_CHUNK;
  return true;
}

static bool is_unit(const npu_window *window) {
  return window->kernel_height == 1 && window->kernel_width == 1 && window->stride_y == 1 &&
         window->stride_x == 1 && !window->padded && window->upscale == NPU_UPSCALE_NONE;
}

static bool decode(npu_machine *machine, uint32_t mode, pool *p) {
  const npu_feature_map *ofm = &p->output.map;
  p->mode = (pooling_mode)mode;
  if (mode > REDUCE_SUM) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_OP_POOL, "pooling_mode", mode);
  }
  if (!npu_output_decode(machine, true, &p->output) ||
      !npu_window_decode(machine, ofm->height, ofm->width, &p->window, &p->ifm)) {
    return false;
  }
  if (p->window.upscale == NPU_UPSCALE_ZEROS) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_UPSCALE, "mode, for a pool",
                    p->window.upscale);
  }
  if (p->mode == REDUCE_SUM) {
    if (!is_unit(&p->window) || ofm->depth != 1) {
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_DEPTH_M1,
                      "window or OFM depth of REDUCE_SUM", ofm->depth);
    }
  } else {
    if (p->ifm.element == 4) {
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_PRECISION,
                      "activation_precision", p->ifm.element);
    }
    if (p->ifm.depth != ofm->depth) {
      return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_IFM_DEPTH_M1,
                      "depth of a pool's IFM, not the OFM's", p->ifm.depth);
    }
  }
  if (p->mode == AVERAGE && p->window.padded && p->output.source != NPU_SCALE_GLOBAL) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_PRECISION,
                    "scale_mode, with padding", p->output.source);
  }
  if (!is_unit(&p->window) || p->mode == REDUCE_SUM) {
    machine->operation.counts.macs = (uint64_t)ofm->height * (uint64_t)ofm->width *
                                     (uint64_t)p->ifm.depth * (uint64_t)p->window.kernel_height *
                                     (uint64_t)p->window.kernel_width;
  }
  npu_estimate_kernel(machine,
                      &(npu_work){
                          .kind = p->mode == REDUCE_SUM ? NPU_WORK_REDUCE_SUM : NPU_WORK_POOL,
                          .output_class = p->mode == MAX ? NPU_OUTPUT_MAX : NPU_OUTPUT_OTHER,
                          .ifm = &p->ifm,
                          .output = &p->output,
                          .window = &p->window,
                      });
  return take_buffers(machine, p);
}

// Channels c to c + nc - 1 of nx pixels, as they are. Only for unit windows.
static void copy_pixels(const pool *p, int32_t y, int32_t x, int32_t nx, int32_t c, int32_t nc) {
  const int32_t zero_point = p->ifm.zero_point;
  npu_load(&p->ifm, y, x, nx, c, nc, p->loaded);
  for (int32_t i = 0; i < nx * nc; ++i) {
    p->accumulators[i] = p->loaded[i] - zero_point;
  }
}

// Sums of all channels of nx pixels.
static void sum_channels(const pool *p, int32_t y, int32_t x, int32_t nx) {
  const int64_t zero_point = p->ifm.zero_point;
  for (int32_t i = 0; i < nx; ++i) {
    int64_t sum = 0;
    for (int32_t c = 0; c < p->ifm.depth; c += NPU_CHUNK) {
      const int32_t rest = p->ifm.depth - c;
      const int32_t nc = rest < NPU_CHUNK ? rest : NPU_CHUNK;
      npu_load(&p->ifm, y, x + i, 1, c, nc, p->loaded);
      for (int32_t k = 0; k < nc; ++k) {
        sum += p->loaded[k] - zero_point;
      }
    }
    p->accumulators[i] = sum;
  }
}

static int64_t divide_away_from_zero(int64_t value, int64_t count) {
  return (value >= 0 ? 2 * value + count : 2 * value - count) / (2 * count);
}

// One window, channels c to c + nc - 1. Padding does not take part.
static void pool_pixel(const pool *p, int32_t y, int32_t x, int32_t c, int32_t nc) {
  const npu_window *window = &p->window;
  const int32_t zero_point = p->ifm.zero_point;
  const int shift = window->upscale == NPU_UPSCALE_NEAREST ? 1 : 0;
  int64_t *accumulators = p->accumulators;
  int32_t count = 0;
  for (int32_t i = 0; i < nc; ++i) {
    accumulators[i] = p->mode == MAX ? INT32_MIN : 0;
  }
  for (int32_t ky = 0; ky < window->kernel_height; ++ky) {
    const int32_t row = y * window->stride_y + ky * window->dilation_y - window->pad_top;
    if (row < 0 || row >= window->height) {
      continue;
    }
    for (int32_t kx = 0; kx < window->kernel_width; ++kx) {
      const int32_t column = x * window->stride_x + kx * window->dilation_x - window->pad_left;
      if (column < 0 || column >= window->width) {
        continue;
      }
      npu_load(&p->ifm, row >> shift, column >> shift, 1, c, nc, p->loaded);
      ++count;
      for (int32_t i = 0; i < nc; ++i) {
        const int32_t value = p->loaded[i] - zero_point;
        if (p->mode == MAX) {
          accumulators[i] = value > accumulators[i] ? value : accumulators[i];
        } else {
          accumulators[i] += value;
        }
      }
    }
  }
  if (p->mode == AVERAGE && window->padded && count > 0) {
    for (int32_t i = 0; i < nc; ++i) {
      accumulators[i] = divide_away_from_zero(accumulators[i], count);
    }
  }
}

static bool execute(npu_machine *machine, pool *p) {
  const npu_feature_map *ofm = &p->output.map;
  const bool unit = is_unit(&p->window);
  if (p->mode == AVERAGE && p->window.padded) {
    p->output.source = NPU_SCALE_NONE;  // the division is all there is
  }
  for (int32_t c = 0; c < ofm->depth; c += NPU_CHUNK_CHANNELS) {
    const int32_t rest = ofm->depth - c;
    const int32_t nc = rest < NPU_CHUNK_CHANNELS ? rest : NPU_CHUNK_CHANNELS;
    const int32_t chunk = unit ? NPU_CHUNK / nc : 1;
    if (!npu_output_channels(machine, &p->output, c, nc, p->scales)) {
      return false;
    }
    for (int32_t y = 0; y < ofm->height; ++y) {
      for (int32_t x = 0; x < ofm->width; x += chunk) {
        const int32_t nx = ofm->width - x < chunk ? ofm->width - x : chunk;
        if (p->mode == REDUCE_SUM) {
          sum_channels(p, y, x, nx);
        } else if (unit) {
          copy_pixels(p, y, x, nx, c, nc);
        } else {
          pool_pixel(p, y, x, c, nc);
        }
        if (!npu_output_write(machine, &p->output, y, x, nx, c, nc, p->scales, p->accumulators,
                              p->values)) {
          return false;
        }
      }
    }
  }
  return true;
}

bool npu_run_pool(npu_machine *machine, uint32_t mode) {
  pool p;
  if (!decode(machine, mode, &p)) {
    return false;
  }
  return machine->regions == NULL || execute(machine, &p);
}
