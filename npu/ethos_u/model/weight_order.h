// SPDX-License-Identifier: Apache-2.0
// Order of the weights in a stream for the MAC units: brings the weights of one OFM block into
// plain order. Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_WEIGHT_ORDER_H_
#define FIRMWARE_ETHOS_U_MODEL_WEIGHT_ORDER_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu/ethos_u/model/weight_stream.h"

typedef enum { NPU_DEPTH_FIRST, NPU_PART_KERNEL_FIRST, NPU_DEPTHWISE } npu_traversal;

typedef struct {
  npu_traversal traversal;
  int32_t kernel_height;  // elements
  int32_t kernel_width;
  int32_t sub_kernel_height;  // the kernel is taken apart into pieces of at most this size
  int32_t sub_kernel_width;
  int32_t ifm_depth;  // 1 for depthwise
  int32_t ifm_bytes;  // per element
  int32_t ofm_ublock_depth;
} npu_weight_geometry;

// Reads the weights of the `channels` OFM channels of one core in a block. The weights of channel o
// go to rows + o * channel_step. Element (y, x, i) of its kernel is at index ((y * kernel_width +
// x) * ifm_depth + i) * element_step. Returns false if the stream is corrupt (stream->error).
bool npu_weights_read_block(npu_weight_stream *stream, const npu_weight_geometry *geometry,
                            int32_t channels, int16_t *rows, int32_t channel_step,
                            int32_t element_step);

#endif  // FIRMWARE_ETHOS_U_MODEL_WEIGHT_ORDER_H_
