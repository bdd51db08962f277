// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/u85/data.h"

#include <string.h>

enum { STORAGE_TILES = 0, STORAGE_CHAINED = 2 };

void *npu_u85_keep(npu_machine *machine, uint32_t index, uint64_t elements, uint32_t size) {
  npu_kept *kept = &machine->kept;
  const uint64_t bytes = (elements * size + 15) & ~(uint64_t)15;
  if (elements > INT32_MAX) {
    (void)npu_fail(machine, ETHOS_U_ERROR_WORKSPACE, ETHOS_U_NO_FIELD, "elements kept",
                   (int64_t)elements);
    return NULL;
  }
  if (bytes > kept->sizes[index]) {
    kept->sizes[index] = bytes;
  }
  kept->elements[index] = (uint32_t)elements;
  return kept->data[index];
}

bool npu_u85_take(npu_machine *machine, const uint64_t *sizes, int32_t count, void **buffers) {
  uint64_t total = 0;
  for (int32_t i = 0; i < count; ++i) {
    total += (sizes[i] + 15) & ~(uint64_t)15;
    buffers[i] = NULL;
  }
  uint8_t *at = npu_take_buffers(machine, total);
  if (at == NULL) {
    return npu_ok(machine);
  }
  for (int32_t i = 0; i < count; ++i) {
    buffers[i] = at;
    at += (sizes[i] + 15) & ~(uint64_t)15;
  }
  return true;
}

// Storage of a feature map from the top bits of its precision.
static uint8_t storage_of(npu_machine *machine, uint32_t key) {
  return (uint8_t)(npu_register(machine, key) >> 14);
}

bool npu_u85_input_decode(npu_machine *machine, npu_feature_map_role role, int32_t height,
                          int32_t width, int32_t depth, npu_u85_input *input) {
  const uint32_t key = role == NPU_IFM ? NPU_SET_IFM_PRECISION : NPU_SET_IFM2_PRECISION;
  const uint32_t region_key = role == NPU_IFM ? NPU_SET_IFM_REGION : NPU_SET_IFM2_REGION;
  const uint8_t storage = storage_of(machine, key);
  input->is_chained = storage == STORAGE_CHAINED;
  input->chained = NULL;
  if (!input->is_chained) {
    if (storage != STORAGE_TILES) {
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, key, "activation_storage", storage);
    }
    if (!npu_feature_map_decode(machine, role, height, width, depth, &input->map)) {
      return false;
    }
    return input->map.element < 8 || input->map.zero_point == 0 ||
           npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, key, "zero point, of 64 bits",
                    input->map.zero_point);
  }
  const uint32_t buffer = 1 + (npu_register(machine, region_key) & 7);
  const uint32_t precision = npu_register(machine, key);
  const uint32_t zero_point =
      npu_register(machine, role == NPU_IFM ? NPU_SET_IFM_ZERO_POINT : NPU_SET_IFM2_ZERO_POINT);
  const bool is_signed = (precision & 1) != 0;
  const uint8_t element = (uint8_t)(1u << (precision >> 2 & 3));
  input->map = (npu_feature_map){
      .height = height,
      .width = width,
      .depth = depth,
      .is_signed = is_signed,
      .element = element,
      .zero_point = is_signed || element > 2 ? (int16_t)zero_point : (int32_t)zero_point,
  };
  const int64_t elements = (int64_t)height * width * depth;
  if (machine->kept.elements[buffer] != elements) {
    return npu_fail(machine, ETHOS_U_ERROR_NOT_SET, region_key, "elements in chained storage",
                    machine->kept.elements[buffer]);
  }
  if (role == NPU_IFM) {
    machine->operation.ifm_shape[0] = (uint32_t)height;
    machine->operation.ifm_shape[1] = (uint32_t)width;
    machine->operation.ifm_shape[2] = (uint32_t)depth;
  }
  input->chained = (const int32_t *)(const void *)machine->kept.data[buffer];
  return npu_ok(machine);
}

// Channel 0 of (y, x).
static uint8_t *pixel(const npu_feature_map *map, int32_t y, int32_t x) {
  const bool right = x >= map->width0;
  const int32_t top = right ? map->height1 : map->height0;
  const bool bottom = y >= top;
  return map->data + map->base[(bottom ? 2 : 0) + (right ? 1 : 0)] +
         (bottom ? y - top : y) * map->stride_y + (right ? x - map->width0 : x) * map->stride_x;
}

static int64_t channel_offset(const npu_feature_map *map, int32_t c) {
  const int64_t lane = c % NPU_BRICK;
  return map->bricks ? c / NPU_BRICK * map->stride_c + lane * map->element : c * map->stride_c;
}

uint8_t *npu_u85_address(const npu_feature_map *map, int32_t y, int32_t x, int32_t c) {
  return pixel(map, y, x) + channel_offset(map, c);
}

static int64_t load(const npu_feature_map *map, const uint8_t *at) {
  uint64_t value = 0;
  memcpy(&value, at, map->element);
  if (map->is_signed && map->element < 8) {
    const uint64_t sign = (uint64_t)1 << (8 * map->element - 1);
    return (int64_t)(value ^ sign) - (int64_t)sign;
  }
  return (int64_t)value;
}

void npu_u85_load_row(const npu_u85_input *input, int32_t y, int64_t *out) {
  const npu_feature_map *map = &input->map;
  const int64_t row = (int64_t)map->width * map->depth;
  const int64_t zero_point = map->zero_point;
  if (input->is_chained) {
    const int32_t *values = input->chained + y * row;
    for (int64_t i = 0; i < row; ++i) {
      out[i] = values[i] - zero_point;
    }
    return;
  }
  for (int32_t x = 0; x < map->width; ++x) {
    const uint8_t *first = pixel(map, y, x);
    for (int32_t c = 0; c < map->depth; ++c) {
      *out++ = load(map, first + channel_offset(map, c)) - zero_point;
    }
  }
}

void npu_u85_shape(npu_machine *machine, int32_t shape[3]) {
  shape[0] = (int32_t)npu_register(machine, NPU_SET_OFM_HEIGHT_M1) + 1;
  shape[1] = (int32_t)npu_register(machine, NPU_SET_OFM_WIDTH_M1) + 1;
  shape[2] = (int32_t)npu_register(machine, NPU_SET_OFM_DEPTH_M1) + 1;
  for (int i = 0; i < 3; ++i) {
    machine->operation.ofm_shape[i] = (uint32_t)shape[i];
  }
}
