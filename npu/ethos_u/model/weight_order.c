// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/weight_order.h"

#include <stddef.h>
#include <string.h>

#include "npu/ethos_u/model/config.h"

enum { MAX_OFM_LANES = 8 };

static int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }

static int32_t round_up(int32_t value, int32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Destination of the weights of a channel block.
typedef struct {
  npu_weight_stream *stream;
  const npu_weight_geometry *geometry;
  int16_t *rows;
  int32_t channel_step;
  int32_t element_step;
  int32_t channels;
} block_reader;

// One group for the MAC units: OFM lanes from channel o, each with IFM lanes from channel i, of
// kernel element (y, x). Lanes beyond the tensors, and elements that only pad the kernel (y < 0),
// are zeros in the stream.
static bool read_lanes(const block_reader *reader, int32_t o, int32_t i, int32_t y, int32_t x) {
  const npu_weight_geometry *geometry = reader->geometry;
  const int32_t ifm_lanes = geometry->traversal == NPU_DEPTHWISE ? 1 : NPU_IFM_UBLOCK_DEPTH;
  const int32_t ofm_lanes = geometry->ofm_ublock_depth;
  int16_t lanes[MAX_OFM_LANES * NPU_IFM_UBLOCK_DEPTH];
  if (!npu_weight_stream_read(reader->stream, lanes, (uint32_t)(ofm_lanes * ifm_lanes))) {
    return false;
  }
  const int32_t valid_ofm = y < 0 ? 0 : min32(ofm_lanes, reader->channels - o);
  const int32_t valid_ifm = min32(ifm_lanes, geometry->ifm_depth - i);
  const ptrdiff_t element =
      y < 0 ? 0 : ((ptrdiff_t)y * geometry->kernel_width + x) * geometry->ifm_depth + i;
  int32_t padding = 0;
  for (int32_t lane = 0; lane < ofm_lanes; ++lane) {
    const int16_t *source = lanes + lane * ifm_lanes;
    const int32_t valid = lane < valid_ofm && valid_ifm > 0 ? valid_ifm : 0;
    if (valid > 0) {
      int16_t *target = reader->rows + (ptrdiff_t)(o + lane) * reader->channel_step +
                        element * reader->element_step;
      if (valid == NPU_IFM_UBLOCK_DEPTH) {
        memcpy(target, source, NPU_IFM_UBLOCK_DEPTH * sizeof(source[0]));  // a constant size
      } else {
        memcpy(target, source, (size_t)valid * sizeof(source[0]));
      }
    }
    for (int32_t k = valid; k < ifm_lanes; ++k) {
      padding |= source[k];
    }
  }
  if (padding != 0) {
    reader->stream->error = "has a weight other than 0 in its padding";
    return false;
  }
  return true;
}

// All groups of one piece of the kernel, elements (y, x) on, for IFM channels of one block.
static bool read_sub_kernel(const block_reader *reader, int32_t ifm_block, int32_t ifm_block_depth,
                            int32_t y, int32_t x) {
  const npu_weight_geometry *geometry = reader->geometry;
  const bool part_kernel = geometry->traversal == NPU_PART_KERNEL_FIRST;
  const int32_t height = min32(geometry->sub_kernel_height, geometry->kernel_height - y);
  const int32_t width = min32(geometry->sub_kernel_width, geometry->kernel_width - x);
  int32_t rounding = 1;
  if (geometry->traversal == NPU_DEPTHWISE) {
    rounding = 4;
  } else if (part_kernel) {
    rounding = geometry->ifm_bytes == 2 ? 2 : 4;
  }
  const int32_t elements = round_up(height * width, rounding);
  const int32_t outer_end = part_kernel ? ifm_block_depth : 1;
  const int32_t inner_end = part_kernel ? 1 : ifm_block_depth;
  for (int32_t outer = 0; outer < outer_end; outer += NPU_IFM_UBLOCK_DEPTH) {
    for (int32_t o = 0; o < reader->channels; o += geometry->ofm_ublock_depth) {
      for (int32_t element = 0; element < elements; ++element) {
        const int32_t row = element / width < height ? y + element / width : -1;
        for (int32_t inner = 0; inner < inner_end; inner += NPU_IFM_UBLOCK_DEPTH) {
          if (!read_lanes(reader, o, ifm_block + outer + inner, row, x + element % width)) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

bool npu_weights_read_block(npu_weight_stream *stream, const npu_weight_geometry *geometry,
                            int32_t channels, int16_t *rows, int32_t channel_step,
                            int32_t element_step) {
  const block_reader reader = {stream, geometry, rows, channel_step, element_step, channels};
  const bool part_kernel = geometry->traversal == NPU_PART_KERNEL_FIRST;
  const int32_t ifm_block_depth = part_kernel || geometry->ifm_bytes == 2 ? 16 : 32;
  for (int32_t i = 0; i < geometry->ifm_depth; i += ifm_block_depth) {
    int32_t depth = ifm_block_depth;
    if (geometry->traversal == NPU_DEPTHWISE) {
      depth = NPU_IFM_UBLOCK_DEPTH;
    } else if (part_kernel) {
      depth = min32(depth, geometry->ifm_depth - i);
    }
    for (int32_t y = 0; y < geometry->kernel_height; y += geometry->sub_kernel_height) {
      for (int32_t x = 0; x < geometry->kernel_width; x += geometry->sub_kernel_width) {
        if (!read_sub_kernel(&reader, i, depth, y, x)) {
          return false;
        }
      }
    }
  }
  return true;
}
