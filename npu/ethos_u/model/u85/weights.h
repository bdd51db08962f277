// SPDX-License-Identifier: Apache-2.0
// Weights of U85: one to four standard streams, or one fast stream, into plain order. Internal to
// the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_U85_WEIGHTS_H_
#define FIRMWARE_ETHOS_U_MODEL_U85_WEIGHTS_H_

#include "npu/ethos_u/model/machine.h"
#include "npu/ethos_u/model/weight_stream.h"

enum { NPU_U85_MAX_STREAMS = 4 };

typedef struct {
  bool depthwise;
  bool part_kernel;
  bool sparse;
  bool fast;
  int32_t kernel_height;  // elements
  int32_t kernel_width;
  int32_t stride_y;
  int32_t stride_x;
  int32_t dilation_y;
  int32_t dilation_x;
  int32_t ofm_depth;
  int32_t ifm_depth;  // 1 for depthwise
  int32_t ifm_bytes;  // an element
  int32_t block_depth;
  int32_t ublock_depth;
  uint8_t log2_macs;
  uint8_t stream_count;
  const uint8_t *streams[NPU_U85_MAX_STREAMS];  // null while inspecting
  uint32_t bytes[NPU_U85_MAX_STREAMS];
} npu_u85_weights;

// Reads the registers of the weights; the shape is the caller's. False on error.
bool npu_u85_weights_decode(npu_machine *machine, npu_u85_weights *weights);

// Decodes all streams. Weight (o, y, x, i) goes to target[o * channel_step + ((y * kernel_width +
// x) * ifm_depth + i) * element_step]. False if a stream is corrupt.
bool npu_u85_weights_read(npu_machine *machine, const npu_u85_weights *weights,
                          npu_weight_stream *decoder, int32_t channel_step, int32_t element_step,
                          int16_t *target);

#endif  // FIRMWARE_ETHOS_U_MODEL_U85_WEIGHTS_H_
