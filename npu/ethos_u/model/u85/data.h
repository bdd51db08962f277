// SPDX-License-Identifier: Apache-2.0
// Feature maps of U85 as rows of 64-bit values, from memory or from the storage between the links
// of a chain, and the output stage. Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_U85_DATA_H_
#define FIRMWARE_ETHOS_U_MODEL_U85_DATA_H_

#include "npu/ethos_u/model/feature_map.h"
#include "npu/ethos_u/model/u85/scale.h"

typedef struct {
  npu_feature_map map;
  bool is_chained;
  const int32_t *chained;  // null while inspecting
} npu_u85_input;

// Reads an IFM or IFM2 of this shape. False on error.
bool npu_u85_input_decode(npu_machine *machine, npu_feature_map_role role, int32_t height,
                          int32_t width, int32_t depth, npu_u85_input *input);

// Row y without the zero point: out[width][depth].
void npu_u85_load_row(const npu_u85_input *input, int32_t y, int64_t *out);

// The element's first byte.
uint8_t *npu_u85_address(const npu_feature_map *map, int32_t y, int32_t x, int32_t c);

typedef enum {
  NPU_U85_UNSCALED,     // shifts, DIV and ARGMAX
  NPU_U85_BY_REGISTER,  // OFM_SCALE
  NPU_U85_SCALED,       // OFM_SCALE or the stream of scales, by OFM_PRECISION
} npu_u85_scaling;

typedef struct {
  npu_feature_map map;  // of the shape in memory
  int32_t height;       // before the transpose
  int32_t width;
  int32_t depth;
  uint8_t storage;
  uint8_t reverse;
  const uint8_t *axes;  // axes of the shape in memory
  npu_u85_scaling scaling;
  npu_u85_scale scale;
  const uint8_t *records;  // of the channels, null for OFM_SCALE or while inspecting
  bool is_wide;            // 48-bit accumulators
  bool clips;
  bool may_wrap;  // keeps the low bits of results beyond its type: masks and bits
  int32_t minimum;
  int32_t maximum;
  uint8_t function;
  const uint8_t *table;
  int32_t *chained;
} npu_u85_output;

// Height, width and depth of the OFM.
void npu_u85_shape(npu_machine *machine, int32_t shape[3]);

// Reads scale, activation and OFM. False on error.
bool npu_u85_output_decode(npu_machine *machine, npu_u85_scaling scaling, npu_u85_output *output);

// Finishes row y, values[width][depth], and stores it. False on overflow.
bool npu_u85_output_row(npu_machine *machine, const npu_u85_output *output, int32_t y,
                        const int64_t *values);

// Takes buffers of these sizes for the current operation. While inspecting they are null. False on
// error.
bool npu_u85_take(npu_machine *machine, const uint64_t *sizes, int32_t count, void **buffers);

// Buffer `index` of the machine's kept values, for this many elements of that size. Null while
// inspecting.
void *npu_u85_keep(npu_machine *machine, uint32_t index, uint64_t elements, uint32_t size);

#endif  // FIRMWARE_ETHOS_U_MODEL_U85_DATA_H_
