// SPDX-License-Identifier: Apache-2.0
// The output stage shared by all operations: bias and scale, zero point, clamp, LUT, store.
// Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_OUTPUT_H_
#define FIRMWARE_ETHOS_U_MODEL_OUTPUT_H_

#include "npu/ethos_u/model/feature_map.h"
#include "npu/ethos_u/model/scale.h"

enum {
  NPU_SCALE_RECORD_BYTES = 10,  // in the scale stream: 40-bit bias, 32-bit multiplier, 6-bit shift
  NPU_MAX_CORES = 2,
  // Most elements and channels per call of npu_output_write.
  NPU_CHUNK = 1024,
  NPU_CHUNK_CHANNELS = 256,
};

typedef enum {
  NPU_SCALE_NONE,     // the operation has no scale
  NPU_SCALE_GLOBAL,   // one for all: OFM_SCALE
  NPU_SCALE_CHANNEL,  // bias and scale for each channel: the scale stream
} npu_scale_source;

// Bias and scale of one channel.
typedef struct {
  int64_t bias;
  npu_scale scale;
} npu_channel_scale;

typedef struct {
  npu_feature_map map;
  npu_scale_source source;
  bool round_double;
  npu_scale scale;                        // NPU_SCALE_GLOBAL
  const uint8_t *records[NPU_MAX_CORES];  // scale streams
  int64_t accumulator_limit;              // magnitudes below it fit the accumulator
  int32_t minimum;
  int32_t maximum;
  const uint8_t *lut;  // null if there is none
} npu_output;

// Reads shape, scale and activation of the OFM. `scaled` is false for operations without scaling.
// Returns false on error.
bool npu_output_decode(npu_machine *machine, bool scaled, npu_output *output);

// Reads the scale records of channels c to c + n - 1 (n <= NPU_CHUNK_CHANNELS) for
// NPU_SCALE_CHANNEL; otherwise does nothing. False if a record does not fit its fields.
bool npu_output_channels(npu_machine *machine, const npu_output *output, int32_t c, int32_t n,
                         npu_channel_scale *scales);

// Finishes accumulators[nx][nc] of row y and stores them; `scales` are those of channels c on.
// nx * nc <= NPU_CHUNK; `values` is scratch for as many. False on overflow.
bool npu_output_write(npu_machine *machine, const npu_output *output, int32_t y, int32_t x,
                      int32_t nx, int32_t c, int32_t nc, const npu_channel_scale *scales,
                      const int64_t *accumulators, int32_t *values);

#endif  // FIRMWARE_ETHOS_U_MODEL_OUTPUT_H_
