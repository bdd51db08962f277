// SPDX-License-Identifier: Apache-2.0
// Shared by OP_CONV and OP_DEPTHWISE: registers, buffers, and the loop over OFM blocks in depth.
// Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_CONVOLUTION_H_
#define FIRMWARE_ETHOS_U_MODEL_CONVOLUTION_H_

#include "npu/ethos_u/model/output.h"
#include "npu/ethos_u/model/weight_order.h"
#include "npu/ethos_u/model/window.h"

typedef struct npu_convolution npu_convolution;

// Accumulates the window with its top left at column x of the padded IFM, for `channels` channels
// of the block.
typedef void (*npu_accumulate)(const npu_convolution *convolution, int32_t x, int32_t channels);

struct npu_convolution {
  npu_window window;
  npu_feature_map ifm;
  npu_output output;
  npu_weight_geometry geometry;
  int32_t block_depth;  // channels of the OFM block
  uint8_t weight_region;
  const uint8_t *streams[NPU_MAX_CORES];
  uint32_t stream_bytes[NPU_MAX_CORES];
  int32_t row_step;     // elements of an IFM row in `rows`
  int32_t weight_step;  // conv: elements from channel to channel; depthwise: to element
  // Buffers.
  npu_weight_stream *decoders;  // one a core
  int16_t *weights;             // per OFM block
  int16_t *rows;                // padded IFM rows of the window, row y at y % dilated height;
                                // depthwise: only the channels of the block
  const int16_t **taps;         // rows of the window's kernel rows, for the current OFM row
  int16_t *patch;               // conv: a window in one piece
  npu_channel_scale *scales;
  int64_t *accumulators;
  int32_t *values;
};

// Reads everything from the registers and takes the buffers. False on error, and true with null
// buffers while inspecting.
bool npu_convolution_decode(npu_machine *machine, npu_traversal traversal,
                            npu_convolution *convolution);

// Runs a decoded convolution. False on error.
bool npu_convolution_run(npu_machine *machine, npu_convolution *convolution,
                         npu_accumulate accumulate);

#endif  // FIRMWARE_ETHOS_U_MODEL_CONVOLUTION_H_
