// SPDX-License-Identifier: Apache-2.0
// The output stage of U85.
#include <string.h>

#include "npu/ethos_u/model/u85/data.h"

enum {
  STORAGE_TILES = 0,
  STORAGE_CHAINED = 2,
  STORAGE_NONE = 3,
  CLIP_NONE = 1,
  RECORD_BYTES = 10,
  NO_FUNCTION = 0,
  S8_S8 = 4,
  S8_S16 = 5,
  S8_S32 = 7,
  S16_S16 = 8,
  S16_S32 = 9,
};

static bool decode_scale(npu_machine *machine, npu_u85_output *output) {
  const uint32_t precision = npu_register(machine, NPU_SET_OFM_PRECISION);
  output->is_wide = (npu_register(machine, NPU_SET_ACC_FORMAT) & 3) == 1;
  output->records = NULL;
  if (output->scaling == NPU_U85_UNSCALED) {
    return npu_ok(machine);
  }
  if ((precision >> 8 & 1) != 0) {
    output->scaling = NPU_U85_BY_REGISTER;
  }
  if (!npu_u85_scale_decode(machine, NPU_SET_OFM_SCALE, &output->scale)) {
    return false;
  }
  if (output->scaling == NPU_U85_BY_REGISTER) {
    return true;
  }
  const uint32_t region = npu_register(machine, NPU_SET_SCALE_REGION) & 7;
  const int64_t base = (int64_t)npu_register_address(machine, NPU_SET_SCALE_BASE);
  const uint32_t length = npu_register(machine, NPU_SET_SCALE_LENGTH);
  const int64_t needed = (int64_t)output->depth * RECORD_BYTES;
  if (npu_ok(machine) && length < needed) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_SCALE_LENGTH,
                    "bytes, less than the channels need", length);
  }
  const uint8_t *data =
      npu_access_region(machine, NPU_SET_SCALE_REGION, region, false, base, base + (int64_t)length);
  npu_count_bytes(machine, region, false, length);
  output->records = data == NULL ? NULL : data + base;
  return npu_ok(machine);
}

static bool decode_table(npu_machine *machine, uint32_t slot, npu_u85_output *output) {
  uint32_t slots = 1;
  switch (output->function) {
    case NO_FUNCTION:
      return true;
    case S8_S8:
      break;
    case S8_S16:
      slots = 2;
      break;
    case S8_S32:
      slots = 4;
      break;
    case S16_S16:
    case S16_S32:
      slots = 8;
      break;
    default:
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_ACTIVATION, "activation_function",
                      output->function);
  }
  slot *= slots;
  if (slot + slots > NPU_LUT_BYTES / NPU_LUT_SLOT_BYTES) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_ACTIVATION, "table beyond the LUT memory",
                    slot);
  }
  const uint32_t used = ((1u << slots) - 1) << slot;
  if ((machine->lut_written & used) != used) {
    return npu_fail(machine, ETHOS_U_ERROR_NOT_SET, NPU_SET_ACTIVATION, "table never loaded", slot);
  }
  npu_access_lut(machine, false, slot * NPU_LUT_SLOT_BYTES, (slot + slots) * NPU_LUT_SLOT_BYTES);
  output->table = machine->lut + (size_t)slot * NPU_LUT_SLOT_BYTES;
  return true;
}

static bool decode_activation(npu_machine *machine, npu_u85_output *output) {
  const uint32_t activation = npu_register(machine, NPU_SET_ACTIVATION);
  const bool is_signed = (npu_register(machine, NPU_SET_OFM_PRECISION) & 1) != 0;
  output->function = activation & 31;
  output->clips = activation >> 12 != CLIP_NONE;
  output->table = NULL;
  if (output->clips) {
    const uint32_t minimum = npu_register(machine, NPU_SET_ACTIVATION_MIN);
    const uint32_t maximum = npu_register(machine, NPU_SET_ACTIVATION_MAX);
    output->minimum = (int16_t)minimum;
    output->maximum = is_signed ? (int16_t)maximum : (int32_t)maximum;
    if (output->minimum > output->maximum) {
      return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_ACTIVATION_MIN,
                      "clip boundary, above the maximum", output->minimum);
    }
  }
  return decode_table(machine, activation >> 5 & 7, output);
}

// Axes of the shape in memory, by activation_transpose; null for none.
static const uint8_t *axes_of(uint32_t transpose) {
  static const uint8_t AXES[8][3] = {
      {0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {0, 0, 0}, {0, 0, 0}, {2, 0, 1}, {2, 1, 0},
  };
  return AXES[transpose][1] == AXES[transpose][2] ? NULL : AXES[transpose];
}

bool npu_u85_output_decode(npu_machine *machine, npu_u85_scaling scaling, npu_u85_output *output) {
  const uint32_t precision = npu_register(machine, NPU_SET_OFM_PRECISION);
  int32_t shape[3];
  memset(output, 0, sizeof(*output));
  npu_u85_shape(machine, shape);
  output->height = shape[0];
  output->width = shape[1];
  output->depth = shape[2];
  output->storage = (uint8_t)(precision >> 14);
  output->reverse = precision >> 9 & 3;
  output->axes = axes_of(precision >> 11 & 7);
  output->scaling = scaling;
  if (output->axes == NULL) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_OFM_PRECISION, "activation_transpose",
                    precision >> 11 & 7);
  }
  if (output->storage == STORAGE_TILES) {
    if (!npu_feature_map_decode(machine, NPU_OFM, shape[output->axes[0]], shape[output->axes[1]],
                                shape[output->axes[2]], &output->map)) {
      return false;
    }
  } else if (output->storage == STORAGE_CHAINED || output->storage == STORAGE_NONE) {
    const uint32_t zero_point = npu_register(machine, NPU_SET_OFM_ZERO_POINT);
    output->map.is_signed = (precision & 1) != 0;
    output->map.element = (uint8_t)(1u << (precision >> 1 & 3));
    output->map.zero_point = output->map.is_signed || output->map.element > 2 ? (int16_t)zero_point
                                                                              : (int32_t)zero_point;
  } else {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_PRECISION, "activation_storage",
                    output->storage);
  }
  for (int i = 0; i < 3; ++i) {
    machine->operation.ofm_shape[i] = (uint32_t)shape[i];
  }
  if (output->storage == STORAGE_CHAINED) {
    const uint32_t buffer = 1 + (npu_register(machine, NPU_SET_OFM_REGION) & 7);
    if (output->map.element > 4 || (output->map.element == 4 && !output->map.is_signed)) {
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_PRECISION,
                      "activation_precision, of chained storage", output->map.element);
    }
    output->chained =
        npu_u85_keep(machine, buffer,
                     (uint64_t)output->height * (uint64_t)output->width * (uint64_t)output->depth,
                     sizeof(int32_t));
  }
  return decode_scale(machine, output) && decode_activation(machine, output);
}

// Bias and scale of a channel. The record of 48-bit accumulators has a multiplier of 15 bits.
static bool read_record(npu_machine *machine, const npu_u85_output *output, int32_t channel,
                        int64_t *bias, npu_u85_scale *scale) {
  const uint8_t *record = output->records + (size_t)channel * RECORD_BYTES;
  const uint32_t bias_bytes = output->is_wide ? 6 : 4;
  const uint64_t sign = (uint64_t)1 << (8 * bias_bytes - 1);
  uint64_t raw = 0;
  uint32_t multiplier = 0;
  memcpy(&raw, record, bias_bytes);
  memcpy(&multiplier, record + bias_bytes, output->is_wide ? 2 : 4);
  *bias = (int64_t)(raw ^ sign) - (int64_t)sign;
  *scale = output->scale;
  scale->multiplier = multiplier;
  scale->shift = record[8];
  if (multiplier >> (output->is_wide ? 15 : 31) != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_SCALE_BASE,
                    "multiplier, beyond the width of its field", multiplier);
  }
  if (record[8] > 63 || record[9] != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_SCALE_BASE,
                    "shift, beyond the width of its field", record[8] | record[9] << 8);
  }
  return true;
}

static int32_t int32_at(const uint8_t *bytes) {
  int32_t value;
  memcpy(&value, bytes, sizeof(value));
  return value;
}

static bool look_up(npu_machine *machine, const npu_u85_output *output, int64_t *value) {
  const bool wide = output->function >= S16_S16;
  const int64_t limit = wide ? 32768 : 128;
  if (*value < -limit || *value >= limit) {
    return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_ACTIVATION, "index of a table",
                    *value);
  }
  const size_t index = (size_t)(*value + limit);
  const uint8_t *table = output->table;
  if (wide) {
    // 512 pairs of a base and a slope over 128 values.
    const uint32_t entry = (uint32_t)int32_at(table + (index >> 7) * 4);
    const int32_t base = (int16_t)entry;
    const int32_t step = (int16_t)(entry >> 16) * (int32_t)(index & 127);
    *value = output->function == S16_S16 ? base + ((step + 64) >> 7) : base * 128 + step;
  } else if (output->function == S8_S8) {
    *value = (int8_t)table[index];
  } else if (output->function == S8_S16) {
    *value = (int16_t)(table[2 * index] | table[2 * index + 1] << 8);
  } else {
    *value = int32_at(table + 4 * index);
  }
  return true;
}

static bool fits(const npu_u85_output *output, int64_t value) {
  const uint32_t bits = 8u * output->map.element;
  if (bits == 64) {
    return true;
  }
  const int64_t span = (int64_t)1 << bits;
  const int64_t low = output->map.is_signed || output->may_wrap ? -span / 2 : 0;
  const int64_t high = output->map.is_signed && !output->may_wrap ? span / 2 : span;
  return value >= low && value < high;
}

static void store(const npu_u85_output *output, int32_t y, int32_t x, int32_t c, int64_t value) {
  const npu_feature_map *map = &output->map;
  const int32_t at[3] = {
      output->reverse == 1 ? output->height - 1 - y : y,
      output->reverse == 2 ? output->width - 1 - x : x,
      output->reverse == 3 ? output->depth - 1 - c : c,
  };
  const uint8_t *axes = output->axes;
  memcpy(npu_u85_address(map, at[axes[0]], at[axes[1]], at[axes[2]]), &value, map->element);
}

// The low bits of a value, as a value of the OFM's type.
static int32_t wrapped(const npu_feature_map *map, int64_t value) {
  const uint32_t unused = map->element == 1 ? 24 : map->element == 2 ? 16 : 0;
  const uint32_t bits = (uint32_t)value << unused;
  return map->is_signed ? (int32_t)bits >> unused : (int32_t)(bits >> unused);
}

bool npu_u85_output_row(npu_machine *machine, const npu_u85_output *output, int32_t y,
                        const int64_t *values) {
  const npu_feature_map *map = &output->map;
  const int64_t limit = (int64_t)1 << (output->is_wide ? 47 : 31);
  for (int32_t c = 0; c < output->depth; ++c) {
    npu_u85_scale scale = output->scale;
    int64_t bias = 0;
    if (output->scaling == NPU_U85_SCALED && !read_record(machine, output, c, &bias, &scale)) {
      return false;
    }
    for (int32_t x = 0; x < output->width; ++x) {
      int64_t value = values[(int64_t)x * output->depth + c] + bias;
      if (output->scaling == NPU_U85_SCALED && (value >= limit || value < -limit)) {
        return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_ACC_FORMAT, "accumulator", value);
      }
      if (output->scaling != NPU_U85_UNSCALED && !npu_u85_rescale(value, scale, &value)) {
        return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_OFM_SCALE, "accumulator", value);
      }
      value += map->zero_point;
      if (output->clips) {
        value = value < output->minimum ? output->minimum : value;
        value = value > output->maximum ? output->maximum : value;
      }
      if (output->function != NO_FUNCTION && !look_up(machine, output, &value)) {
        return false;
      }
      if (output->storage != STORAGE_NONE && !fits(output, value)) {
        return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_OFM_PRECISION,
                        "result, beyond the OFM's type", value);
      }
      if (output->storage == STORAGE_TILES) {
        store(output, y, x, c, value);
      } else if (output->storage == STORAGE_CHAINED) {
        output->chained[((int64_t)y * output->width + x) * output->depth + c] = wrapped(map, value);
      }
    }
  }
  return true;
}
