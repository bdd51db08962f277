// SPDX-License-Identifier: Apache-2.0
// Feature maps in memory: NHWC or NHCWB16, in up to four tiles, strides of either sign. Internal to
// the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_FEATURE_MAP_H_
#define FIRMWARE_ETHOS_U_MODEL_FEATURE_MAP_H_

#include "npu/ethos_u/model/machine.h"

enum { NPU_BRICK = 16 };  // channels of one NHCWB16 brick

typedef enum { NPU_IFM, NPU_IFM2, NPU_OFM } npu_feature_map_role;

typedef struct {
  uint8_t *data;     // its region, null while inspecting
  int64_t base[4];   // tiles: top left, top right, bottom left, bottom right
  int32_t width0;    // width of the left tiles
  int32_t height0;   // height of the top left tile
  int32_t height1;   // height of the top right tile
  int64_t stride_y;  // bytes
  int64_t stride_x;
  int64_t stride_c;  // from brick to brick; NHWC: from channel to channel, dense but on U85
  int32_t height;
  int32_t width;
  int32_t depth;
  int32_t zero_point;
  uint8_t element;  // bytes: 1, 2 or 4, on U85 also 8
  bool is_signed;
  bool bricks;  // NHCWB16
  uint8_t region;
} npu_feature_map;

// Reads a feature map of the given shape from the registers of `role` and declares an access to all
// bytes. Returns false on error.
bool npu_feature_map_decode(npu_machine *machine, npu_feature_map_role role, int32_t height,
                            int32_t width, int32_t depth, npu_feature_map *map);

// Loads nx columns of nc channels of row y into out[nx][nc].
void npu_load(const npu_feature_map *map, int32_t y, int32_t x, int32_t nx, int32_t c, int32_t nc,
              int32_t *out);

// Same without the zero point, for 8-bit maps and for 16-bit maps with zero point 0. Column i goes
// to out + i * step.
void npu_load_centred(const npu_feature_map *map, int32_t y, int32_t x, int32_t nx, int32_t c,
                      int32_t nc, int32_t step, int16_t *out);

// Stores the low bits of values[nx][nc].
void npu_store(const npu_feature_map *map, int32_t y, int32_t x, int32_t nx, int32_t c, int32_t nc,
               const int32_t *values);

#endif  // FIRMWARE_ETHOS_U_MODEL_FEATURE_MAP_H_
