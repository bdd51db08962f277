// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/convolution.h"

#include <stddef.h>
#include <string.h>

#include "npu/ethos_u/model/cycles.h"

enum {
  SUB_KERNEL = 8,      // a kernel is taken apart into pieces of 8x8, dilation included
  STEP_ROUNDING = 16,  // weight and patch rows are padded to this many elements
};

// The weight stream of one core; a core without channels has none.
static void decode_stream(npu_machine *machine, npu_convolution *convolution, int core) {
  const uint32_t base_key = core == 0 ? NPU_SET_WEIGHT_BASE : NPU_SET_WEIGHT1_BASE;
  const uint32_t length_key = core == 0 ? NPU_SET_WEIGHT_LENGTH : NPU_SET_WEIGHT1_LENGTH;
  convolution->streams[core] = NULL;
  convolution->stream_bytes[core] = 0;
  if (convolution->output.map.depth <= core) {
    return;
  }
  const uint32_t region = npu_register(machine, NPU_SET_WEIGHT_REGION) & 7;
  const int64_t base = (int64_t)npu_register_address(machine, base_key);
  const uint32_t length = npu_register(machine, length_key);
  if (!npu_ok(machine)) {
    return;
  }
  const uint8_t *data = npu_access_region(machine, NPU_SET_WEIGHT_REGION, region, false, base,
                                          base + (int64_t)length);
  npu_count_bytes(machine, region, false, length);
  convolution->weight_region = (uint8_t)region;
  convolution->streams[core] = data == NULL ? NULL : data + base;
  convolution->stream_bytes[core] = length;
}

static bool check_ifm(npu_machine *machine, const npu_feature_map *ifm) {
  if (ifm->element > 2 || (ifm->element == 2 && !ifm->is_signed)) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_PRECISION,
                    "activation_precision", ifm->element);
  }
  const bool fits = ifm->element == 2 ? ifm->zero_point == 0
                                      : ifm->zero_point >= INT8_MIN && ifm->zero_point <= UINT8_MAX;
  return fits || npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_ZERO_POINT, NULL,
                          ifm->zero_point);
}

static uint64_t aligned(uint64_t bytes) { return (bytes + 15) & ~(uint64_t)15; }

// Places the buffers consecutively.
static bool take_buffers(npu_machine *machine, npu_convolution *convolution, uint64_t weights,
                         uint64_t rows, uint64_t taps) {
  const uint64_t block = (uint64_t)convolution->block_depth;
  const uint64_t sizes[] = {
      aligned((uint64_t)NPU_MAX_CORES * sizeof(npu_weight_stream)),
      aligned(weights * sizeof(int16_t)),
      aligned(rows * sizeof(int16_t)),
      aligned(taps * sizeof(int16_t *)),
      aligned((uint64_t)convolution->weight_step * sizeof(int16_t)),
      aligned(block * sizeof(npu_channel_scale)),
      aligned(block * sizeof(int64_t)),
      aligned(block * sizeof(int32_t)),
  };
  uint64_t total = 0;
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    total += sizes[i];
  }
  uint8_t *at = npu_take_buffers(machine, total);
  if (at == NULL) {
    return npu_ok(machine);
  }
  void *buffers[sizeof(sizes) / sizeof(sizes[0])];
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    buffers[i] = at;
    at += sizes[i];
  }
  convolution->decoders = buffers[0];
  convolution->weights = buffers[1];
  convolution->rows = buffers[2];
  convolution->taps = (const int16_t **)buffers[3];
  convolution->patch = buffers[4];
  convolution->scales = buffers[5];
  convolution->accumulators = buffers[6];
  convolution->values = buffers[7];
  return true;
}

static void estimate(npu_machine *machine, const npu_convolution *convolution) {
  static const npu_work_kind KINDS[] = {
      [NPU_DEPTH_FIRST] = NPU_WORK_CONV,
      [NPU_PART_KERNEL_FIRST] = NPU_WORK_CONV_PART,
      [NPU_DEPTHWISE] = NPU_WORK_DEPTHWISE,
  };
  npu_work work = {
      .kind = KINDS[convolution->geometry.traversal],
      .output_class = convolution->output.accumulator_limit > (int64_t)1 << 31 ? NPU_OUTPUT_MUL
                                                                               : NPU_OUTPUT_OTHER,
      .ifm = &convolution->ifm,
      .output = &convolution->output,
      .window = &convolution->window,
      .weight_region = convolution->weight_region,
  };
  for (int core = 0; core < NPU_MAX_CORES; ++core) {
    work.weight_bytes += convolution->stream_bytes[core];
  }
  npu_estimate_kernel(machine, &work);
}

bool npu_convolution_decode(npu_machine *machine, npu_traversal traversal,
                            npu_convolution *convolution) {
  npu_window *window = &convolution->window;
  npu_feature_map *ifm = &convolution->ifm;
  const npu_feature_map *ofm = &convolution->output.map;
  const int32_t cores = machine->config->cores;
  memset(convolution, 0, sizeof(*convolution));
  if (!npu_output_decode(machine, true, &convolution->output) ||
      !npu_window_decode(machine, ofm->height, ofm->width, window, ifm) ||
      !check_ifm(machine, ifm)) {
    return false;
  }
  const uint32_t stride = npu_register(machine, NPU_SET_KERNEL_STRIDE);
  if (traversal == NPU_DEPTH_FIRST && (stride >> 2 & 1) != 0) {
    traversal = NPU_PART_KERNEL_FIRST;
  }
  if ((stride >> 5 & 1) != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_KERNEL_STRIDE, "decomposition", 1);
  }
  if (traversal == NPU_DEPTHWISE && ifm->depth != ofm->depth) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_IFM_DEPTH_M1,
                    "depth of a depthwise IFM, not the OFM's", ifm->depth);
  }
  if (convolution->output.source != NPU_SCALE_CHANNEL) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_PRECISION, "scale_mode",
                    convolution->output.source);
  }
  const int32_t block = (int32_t)npu_register(machine, NPU_SET_OFM_BLK_DEPTH_M1) + 1;
  if (cores > 1 && block % cores != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_BLK_DEPTH_M1,
                    "block depth, odd with two cores", block);
  }
  convolution->block_depth = block < ofm->depth ? block : ofm->depth;
  convolution->geometry = (npu_weight_geometry){
      .traversal = traversal,
      .kernel_height = window->kernel_height,
      .kernel_width = window->kernel_width,
      .sub_kernel_height = SUB_KERNEL / window->dilation_y,
      .sub_kernel_width = SUB_KERNEL / window->dilation_x,
      .ifm_depth = traversal == NPU_DEPTHWISE ? 1 : ifm->depth,
      .ifm_bytes = ifm->element,
      .ofm_ublock_depth = machine->config->ofm_ublock_depth,
  };
  for (int core = 0; core < cores; ++core) {
    decode_stream(machine, convolution, core);
  }
  if (!npu_ok(machine)) {
    return false;
  }
  const uint64_t elements = (uint64_t)window->kernel_height * (uint64_t)window->kernel_width;
  const int32_t row_depth = traversal == NPU_DEPTHWISE ? convolution->block_depth : ifm->depth;
  const uint64_t row = (uint64_t)window->padded_width * (uint64_t)row_depth + STEP_ROUNDING;
  const uint64_t dilated = (uint64_t)(window->kernel_height - 1) * (uint64_t)window->dilation_y + 1;
  uint64_t step = (uint64_t)convolution->block_depth;
  uint64_t weights = elements * step;
  if (traversal != NPU_DEPTHWISE) {
    step = elements * (uint64_t)ifm->depth + STEP_ROUNDING - 1;
    step -= step % STEP_ROUNDING;
    // Channels are taken four at a time.
    weights = step * (uint64_t)((convolution->block_depth + 3) & ~3);
  }
  if (weights > INT32_MAX || dilated * row > INT32_MAX) {
    return npu_fail(machine, ETHOS_U_ERROR_WORKSPACE, ETHOS_U_NO_FIELD, "elements needed",
                    (int64_t)(weights + dilated * row));
  }
  convolution->row_step = (int32_t)row;
  convolution->weight_step = (int32_t)step;
  estimate(machine, convolution);
  machine->operation.counts.macs = (uint64_t)ofm->height * (uint64_t)ofm->width *
                                   (uint64_t)ofm->depth * elements *
                                   (uint64_t)convolution->geometry.ifm_depth;
  return take_buffers(machine, convolution, weights, dilated * row,
                      (uint64_t)window->kernel_height);
}

// Zeros after each channel's weights, and for channels that only fill up the last four.
static void clear_padding(const npu_convolution *convolution, int32_t channels) {
  const npu_weight_geometry *geometry = &convolution->geometry;
  const int32_t step = convolution->weight_step;
  const int32_t used = geometry->kernel_height * geometry->kernel_width * geometry->ifm_depth;
  for (int32_t channel = 0; channel < ((channels + 3) & ~3); ++channel) {
    const int32_t first = channel < channels ? used : 0;
    memset(convolution->weights + (ptrdiff_t)channel * step + first, 0,
           (size_t)(step - first) * sizeof(convolution->weights[0]));
  }
}

// Decodes the weights of channels c to c + channels - 1, a part of every core's stream.
static bool read_weights(npu_machine *machine, npu_convolution *convolution, int32_t channels) {
  const bool depthwise = convolution->geometry.traversal == NPU_DEPTHWISE;
  const int32_t cores = machine->config->cores;
  const int32_t step = convolution->weight_step;
  if (!depthwise) {
    clear_padding(convolution, channels);
  }
  for (int32_t core = 0; core < cores; ++core) {
    const int32_t owned = (channels + cores - 1 - core) / cores;
    int16_t *first = convolution->weights + (depthwise ? core : core * step);
    if (owned > 0 &&
        !npu_weights_read_block(&convolution->decoders[core], &convolution->geometry, owned, first,
                                depthwise ? cores : cores * step, depthwise ? step : 1)) {
      return npu_fail(machine, ETHOS_U_ERROR_WEIGHT_STREAM,
                      core == 0 ? NPU_SET_WEIGHT_BASE : NPU_SET_WEIGHT1_BASE,
                      convolution->decoders[core].error, convolution->decoders[core].position);
    }
  }
  return true;
}

// Row `y` of all channels of the block.
static bool run_row(npu_machine *machine, npu_convolution *convolution, npu_accumulate accumulate,
                    int32_t y, int32_t c, int32_t channels) {
  const npu_output *output = &convolution->output;
  const int32_t stride = convolution->window.stride_x;
  for (int32_t x = 0; x < output->map.width; ++x) {
    accumulate(convolution, x * stride, channels);
    if (!npu_output_write(machine, output, y, x, 1, c, channels, convolution->scales,
                          convolution->accumulators, convolution->values)) {
      return false;
    }
  }
  return true;
}

bool npu_convolution_run(npu_machine *machine, npu_convolution *convolution,
                         npu_accumulate accumulate) {
  const npu_window *window = &convolution->window;
  const npu_output *output = &convolution->output;
  const int32_t dilated = (window->kernel_height - 1) * window->dilation_y + 1;
  for (int core = 0; core < machine->config->cores; ++core) {
    npu_weight_stream_open(&convolution->decoders[core], convolution->streams[core],
                           convolution->stream_bytes[core]);
  }
  memset(convolution->patch, 0, (size_t)convolution->weight_step * sizeof(convolution->patch[0]));
  memset(convolution->rows, 0,
         (size_t)dilated * (size_t)convolution->row_step * sizeof(convolution->rows[0]));
  for (int32_t c = 0; c < output->map.depth; c += convolution->block_depth) {
    const int32_t rest = output->map.depth - c;
    const int32_t channels = rest < convolution->block_depth ? rest : convolution->block_depth;
    if (!read_weights(machine, convolution, channels) ||
        !npu_output_channels(machine, output, c, channels, convolution->scales)) {
      return false;
    }
    // A depthwise block needs only its own channels.
    const bool depthwise = convolution->geometry.traversal == NPU_DEPTHWISE;
    const int32_t first_channel = depthwise ? c : 0;
    const int32_t ifm_channels = depthwise ? channels : convolution->ifm.depth;
    int32_t loaded = 0;
    for (int32_t y = 0; y < output->map.height; ++y) {
      const int32_t top = y * window->stride_y;
      for (loaded = loaded > top ? loaded : top; loaded < top + dilated; ++loaded) {
        npu_window_load_row(window, &convolution->ifm, loaded, first_channel, ifm_channels,
                            convolution->rows + loaded % dilated * convolution->row_step);
      }
      for (int32_t k = 0; k < window->kernel_height; ++k) {
        convolution->taps[k] =
            convolution->rows + (top + k * window->dilation_y) % dilated * convolution->row_step;
      }
      if (!run_row(machine, convolution, accumulate, y, c, channels)) {
        return false;
      }
    }
  }
  return true;
}
