// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/output.h"

#include <string.h>

enum {
  CLIP_OFM_PRECISION = 0,
  CLIP_INT8 = 3,
  CLIP_INT16 = 5,
  FUNCTION_CLAMP = 0,
  FUNCTION_TABLE0 = 16,
  SCALE_PER_CHANNEL = 0,
};

static uint32_t u32(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

// The scale stream of one core; a core without channels has none.
static void decode_records(npu_machine *machine, npu_output *output, int core) {
  const int32_t cores = machine->config->cores;
  const int32_t channels = (output->map.depth + cores - 1 - core) / cores;
  if (channels == 0) {
    return;
  }
  const uint32_t base_key = core == 0 ? NPU_SET_SCALE_BASE : NPU_SET_SCALE1_BASE;
  const uint32_t length_key = core == 0 ? NPU_SET_SCALE_LENGTH : NPU_SET_SCALE1_LENGTH;
  const uint32_t region = npu_register(machine, NPU_SET_SCALE_REGION) & 7;
  const int64_t base = (int64_t)npu_register_address(machine, base_key);
  const uint32_t length = npu_register(machine, length_key);
  const uint32_t needed = (uint32_t)channels * NPU_SCALE_RECORD_BYTES;
  if (!npu_ok(machine)) {
    return;
  }
  if (length < needed) {
    (void)npu_fail(machine, ETHOS_U_ERROR_FIELD, length_key, "bytes, less than the channels need",
                   length);
    return;
  }
  const uint8_t *data =
      npu_access_region(machine, NPU_SET_SCALE_REGION, region, false, base, base + (int64_t)length);
  npu_count_bytes(machine, region, false, length);
  output->records[core] = data == NULL ? NULL : data + base;
}

static bool decode_scale(npu_machine *machine, bool scaled, npu_output *output) {
  const uint32_t precision = npu_register(machine, NPU_SET_OFM_PRECISION);
  const uint32_t rounding = precision >> 14;
  output->source = NPU_SCALE_NONE;
  output->scale = npu_make_scale(1, 0, false);
  if (!scaled) {
    // The effect of another scale on these operations is unknown: Vela uses 1.
    const uint32_t multiplier = npu_register(machine, NPU_SET_OFM_SCALE);
    const uint32_t shift = npu_register_parameter(machine, NPU_SET_OFM_SCALE);
    if (npu_ok(machine) && (multiplier != 1 || shift != 0)) {
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_SCALE,
                      "scale, of an operation that does not scale", multiplier);
    }
    return npu_ok(machine);
  }
  if (rounding != NPU_ROUND_DOUBLE && rounding != NPU_ROUND_NATURAL) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_PRECISION, "round_mode",
                    rounding);
  }
  output->round_double = rounding == NPU_ROUND_DOUBLE;
  if ((precision >> 8 & 1) == SCALE_PER_CHANNEL) {
    output->source = NPU_SCALE_CHANNEL;
    for (int core = 0; core < machine->config->cores; ++core) {
      decode_records(machine, output, core);
    }
    return npu_ok(machine);
  }
  output->source = NPU_SCALE_GLOBAL;
  output->scale =
      npu_make_scale(npu_register(machine, NPU_SET_OFM_SCALE),
                     npu_register_parameter(machine, NPU_SET_OFM_SCALE), output->round_double);
  return npu_ok(machine);
}

static bool decode_activation(npu_machine *machine, npu_output *output) {
  const npu_feature_map *map = &output->map;
  const uint32_t activation = npu_register(machine, NPU_SET_ACTIVATION);
  const uint32_t function = activation & 0x1F;
  const uint32_t clip = activation >> 12;
  const uint32_t minimum = npu_register(machine, NPU_SET_ACTIVATION_MIN);
  const uint32_t maximum = npu_register(machine, NPU_SET_ACTIVATION_MAX);
  const bool table = function >= FUNCTION_TABLE0 && function < FUNCTION_TABLE0 + 8;
  const bool wide = map->element == 4;
  output->lut = NULL;
  output->minimum = map->is_signed ? (int16_t)minimum : (int32_t)minimum;
  output->maximum = map->is_signed ? (int16_t)maximum : (int32_t)maximum;
  if (function != FUNCTION_CLAMP && !table) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_ACTIVATION, "activation_function",
                    function);
  }
  // Vela 5.2 saturates a result to int16, or within, before it stores it as int32.
  const bool narrows = wide && !table && clip == CLIP_INT16;
  if (!narrows && clip != (wide && table ? CLIP_INT8 : CLIP_OFM_PRECISION)) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_ACTIVATION, "activation_clip_range",
                    clip);
  }
  if (wide && !table && !narrows) {
    output->minimum = INT32_MIN;
    output->maximum = INT32_MAX;
    return npu_ok(machine);
  }
  const int32_t bits = map->element == 2 || narrows ? 16 : 8;
  const int32_t lowest = map->is_signed ? -(1 << (bits - 1)) : 0;
  if (output->minimum < lowest || output->maximum > lowest + (1 << bits) - 1 ||
      output->minimum > output->maximum) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_ACTIVATION_MIN,
                    "clip boundary, with the maximum", output->minimum);
  }
  if (table) {
    const uint32_t slots = map->element == 1 ? 1 : map->element == 2 ? 8 : 4;
    const uint32_t slot = function - FUNCTION_TABLE0;
    const uint32_t used = ((1u << slots) - 1) << slot;
    if (slot % slots != 0) {
      return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_ACTIVATION,
                      "activation_function, table beyond the LUT memory", function);
    }
    if ((machine->lut_written & used) != used) {
      return npu_fail(machine, ETHOS_U_ERROR_NOT_SET, NPU_SET_ACTIVATION,
                      "activation_function, table never loaded", function);
    }
    npu_access_lut(machine, false, slot * NPU_LUT_SLOT_BYTES, (slot + slots) * NPU_LUT_SLOT_BYTES);
    output->lut = machine->lut + slot * NPU_LUT_SLOT_BYTES;
  }
  return npu_ok(machine);
}

bool npu_output_decode(npu_machine *machine, bool scaled, npu_output *output) {
  const int32_t height = (int32_t)npu_register(machine, NPU_SET_OFM_HEIGHT_M1) + 1;
  const int32_t width = (int32_t)npu_register(machine, NPU_SET_OFM_WIDTH_M1) + 1;
  const int32_t depth = (int32_t)npu_register(machine, NPU_SET_OFM_DEPTH_M1) + 1;
  for (int core = 0; core < NPU_MAX_CORES; ++core) {
    output->records[core] = NULL;
  }
  if (!npu_feature_map_decode(machine, NPU_OFM, height, width, depth, &output->map)) {
    return false;
  }
  const uint32_t format = npu_register(machine, NPU_SET_ACC_FORMAT);
  if (format > 1) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_ACC_FORMAT, "acc_format", format);
  }
  output->accumulator_limit = (int64_t)1 << (format == 1 ? 39 : 31);
  return decode_scale(machine, scaled, output) && decode_activation(machine, output);
}

bool npu_output_channels(npu_machine *machine, const npu_output *output, int32_t c, int32_t n,
                         npu_channel_scale *scales) {
  if (output->source != NPU_SCALE_CHANNEL) {
    return true;
  }
  const int32_t cores = machine->config->cores;
  for (int32_t i = c; i < c + n; ++i) {
    const uint8_t *record =
        output->records[i % cores] + (size_t)(i / cores) * NPU_SCALE_RECORD_BYTES;
    const int64_t bias = (int64_t)((uint64_t)u32(record) | (uint64_t)record[4] << 32);
    const int64_t sign = (int64_t)1 << 39;
    *scales++ = (npu_channel_scale){
        .bias = (bias ^ sign) - sign,
        .scale = npu_make_scale(u32(record + 5), record[9] & 63, output->round_double),
    };
    if (record[9] > 63) {
      return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_SCALE_BASE,
                      "shift, beyond the width of its field", record[9]);
    }
  }
  return true;
}

static int32_t look_up(const npu_output *output, int32_t value) {
  const uint8_t *lut = output->lut;
  switch (output->map.element) {
    case 1:
      return lut[output->map.is_signed ? value + 128 : value];
    case 2: {
      // 512 entries of int16 base and int16 slope, over intervals of 128.
      const int32_t index = output->map.is_signed ? value + 32768 : value;
      const uint32_t entry = u32(lut + (index >> 7) * 4);
      const int32_t slope = (int16_t)(entry >> 16);
      return (int16_t)entry + ((slope * (index & 127) + 64) >> 7);
    }
    default:
      return (int32_t)u32(lut + (value + 128) * 4);
  }
}

bool npu_output_write(npu_machine *machine, const npu_output *output, int32_t y, int32_t x,
                      int32_t nx, int32_t c, int32_t nc, const npu_channel_scale *scales,
                      const int64_t *accumulators, int32_t *values) {
  const int64_t zero_point = output->map.zero_point;
  const int64_t minimum = output->minimum;
  const int64_t maximum = output->maximum;
  const bool wide = output->map.element == 4 && output->lut == NULL;
  npu_scale scale = output->scale;
  int32_t channel = 0;
  for (int32_t i = 0; i < nx * nc; ++i) {
    int64_t value = accumulators[i];
    if (output->source == NPU_SCALE_CHANNEL) {
      value += scales[channel].bias;
      scale = scales[channel].scale;
      channel = channel + 1 == nc ? 0 : channel + 1;
    }
    if (output->source != NPU_SCALE_NONE) {
      const bool fits32 = value == (int32_t)value;
      if (!fits32 && (value >= output->accumulator_limit || value < -output->accumulator_limit)) {
        return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_ACC_FORMAT, "accumulator", value);
      }
      if (!npu_rescale(value, scale, &value)) {
        return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_OFM_SCALE, "accumulator", value);
      }
    }
    value += zero_point;
    if (wide && value != (int32_t)value) {
      return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_OFM_PRECISION, "32-bit result",
                      value);
    }
    value = value < minimum ? minimum : value;
    value = value > maximum ? maximum : value;
    values[i] = (int32_t)value;
  }
  if (output->lut != NULL) {
    for (int32_t i = 0; i < nx * nc; ++i) {
      values[i] = look_up(output, values[i]);
    }
  }
  npu_store(&output->map, y, x, nx, c, nc, values);
  return true;
}
