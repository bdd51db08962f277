// SPDX-License-Identifier: Apache-2.0
// OP_ELEMENTWISE.
#include "npu/ethos_u/model/cycles.h"
#include "npu/ethos_u/model/operations.h"
#include "npu/ethos_u/model/output.h"

typedef enum {
  MUL = 0,
  ADD = 1,
  SUB = 2,
  MIN = 3,
  MAX = 4,
  LEAKY_RELU = 5,
  ABS = 6,
  CLZ = 7,
  SHR = 8,
  SHL = 9,
} elementwise_mode;

// IFM_PRECISION.scale_mode: the operand of an addition with the 32-bit scale.
typedef enum { SCALE_BOTH16 = 0, SCALE_A32 = 1, SCALE_B32 = 2 } ifm_scale_mode;

typedef struct {
  npu_feature_map ifm;
  npu_feature_map ifm2;
  npu_output output;
  elementwise_mode mode;
  bool unary;
  bool has_scalar;  // IFM2 is one value
  bool broadcast_y;
  bool broadcast_x;
  bool broadcast_c;
  bool swapped;  // IFM2 is operand A
  int32_t scalar;
  ifm_scale_mode scale_mode;
  npu_scale scale_a;  // scaled operand; a multiplier of A alone if both are scaled
  int32_t multiplier_b;
  int shift;  // left shift of the operand without a scale
  int64_t *accumulators;
  int32_t *a;
  int32_t *b;
  int32_t *values;
} elementwise;

static bool take_buffers(npu_machine *machine, elementwise *e) {
  enum { ACCUMULATORS = NPU_CHUNK * sizeof(int64_t), VALUES = NPU_CHUNK * sizeof(int32_t) };
  uint8_t *at = npu_take_buffers(machine, ACCUMULATORS + 3 * VALUES);
  if (at == NULL) {
    return npu_ok(machine);
  }
  e->accumulators = (int64_t *)(void *)at;
  e->a = (int32_t *)(void *)(at + ACCUMULATORS);
  e->b = e->a + NPU_CHUNK;
  e->values = e->b + NPU_CHUNK;
  return true;
}

static bool decode_operand2(npu_machine *machine, elementwise *e) {
  const uint32_t broadcast = npu_register(machine, NPU_SET_IFM2_BROADCAST);
  const npu_feature_map *ofm = &e->output.map;
  e->broadcast_y = (broadcast & 1) != 0;
  e->broadcast_x = (broadcast & 2) != 0;
  e->broadcast_c = (broadcast & 4) != 0;
  e->swapped = (broadcast >> 6 & 1) != 0;
  e->has_scalar = (broadcast >> 7 & 1) != 0;
  if (e->has_scalar) {
    const uint32_t precision = npu_register(machine, NPU_SET_IFM2_PRECISION);
    const uint32_t value = npu_register(machine, NPU_SET_IFM2_SCALAR);
    const uint32_t zero_point = npu_register(machine, NPU_SET_IFM2_ZERO_POINT);
    const bool is_signed = (precision & 1) != 0;
    e->scalar = (is_signed ? (int16_t)value : (int32_t)value) -
                (is_signed ? (int16_t)zero_point : (int32_t)zero_point);
    return npu_ok(machine);
  }
  if (!npu_feature_map_decode(machine, NPU_IFM2, e->broadcast_y ? 1 : ofm->height,
                              e->broadcast_x ? 1 : ofm->width, e->broadcast_c ? 1 : ofm->depth,
                              &e->ifm2)) {
    return false;
  }
  if (e->ifm2.element != e->ifm.element) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM2_PRECISION,
                    "activation_precision, not the IFM's", e->ifm2.element);
  }
  return true;
}

// Scales of an addition's operands.
static bool decode_operand_scales(npu_machine *machine, elementwise *e) {
  const uint32_t precision = npu_register(machine, NPU_SET_IFM_PRECISION);
  const uint32_t rounding = precision >> 14;
  const uint32_t scale_b = npu_register(machine, NPU_SET_OPB_SCALE);
  const bool word = e->ifm.element == 2;
  e->scale_mode = (ifm_scale_mode)(precision >> 8 & 3);
  e->scale_a = npu_make_scale(npu_register(machine, NPU_SET_OPA_SCALE),
                              npu_register_parameter(machine, NPU_SET_OPA_SCALE),
                              rounding == NPU_ROUND_DOUBLE);
  e->multiplier_b = (int32_t)scale_b;
  switch (e->scale_mode) {
    case SCALE_BOTH16:
      if (e->scale_a.multiplier > INT16_MAX || e->scale_a.shift != 0) {
        return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OPA_SCALE, "scale",
                        e->scale_a.multiplier);
      }
      if (scale_b > INT16_MAX || (e->swapped && scale_b != e->scale_a.multiplier)) {
        return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OPB_SCALE, "scale", scale_b);
      }
      break;
    case SCALE_A32:
    case SCALE_B32:
      e->shift = word ? 14 : 19;
      if (e->ifm.element == 4) {
        return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_PRECISION, "scale_mode",
                        e->scale_mode);
      }
      if (rounding != NPU_ROUND_DOUBLE && rounding != NPU_ROUND_NATURAL) {
        return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_PRECISION, "round_mode",
                        rounding);
      }
      // The second operand is only shifted. Its scale is that shift, cut to 16 bits.
      if (scale_b != 0 && scale_b != (word ? 1u << 14 : 0)) {
        return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OPB_SCALE, "scale", scale_b);
      }
      break;
    default:
      return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_IFM_PRECISION, "scale_mode",
                      e->scale_mode);
  }
  return npu_ok(machine);
}

static bool is_scaled(elementwise_mode mode) {
  return mode == MUL || mode == ADD || mode == SUB || mode == ABS;
}

static bool check(npu_machine *machine, const elementwise *e) {
  const npu_feature_map *ofm = &e->output.map;
  const bool words = e->ifm.element == 4;
  if (npu_register(machine, NPU_SET_IFM_UPSCALE) != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_UPSCALE,
                    "mode, for an elementwise operation", 0);
  }
  if (words && (e->ifm.zero_point | e->ifm2.zero_point) != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_ZERO_POINT,
                    "zero point, or IFM2's, with 32 bits", e->ifm.zero_point);
  }
  if ((e->mode == CLZ || e->mode == SHL || e->mode == SHR) && !words) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_PRECISION,
                    "activation_precision", e->ifm.element);
  }
  if (e->mode == SHR) {
    const uint32_t rounding = npu_register(machine, NPU_SET_OFM_PRECISION) >> 14;
    if (rounding != NPU_ROUND_NATURAL) {
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_PRECISION,
                      "round_mode, of SHR", rounding);
    }
  }
  if (e->output.source == NPU_SCALE_CHANNEL) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_PRECISION, "scale_mode",
                    e->output.source);
  }
  // For 32-bit inputs or outputs, only the shift is known to apply.
  if ((words || ofm->element == 4) && e->output.scale.multiplier != 1) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_SCALE, "scale, with 32 bits",
                    e->output.scale.multiplier);
  }
  return npu_ok(machine);
}

static npu_output_class output_class(const elementwise *e) {
  if (e->ifm.element == 4) {
    return e->unary ? NPU_OUTPUT_UNARY_32 : NPU_OUTPUT_BINARY_32;
  }
  if (e->mode == MUL) {
    return e->output.map.element == 4 ? NPU_OUTPUT_MUL_TO_32 : NPU_OUTPUT_MUL;
  }
  return e->mode == ADD || e->mode == SUB ? NPU_OUTPUT_ADD : NPU_OUTPUT_OTHER;
}

static bool decode(npu_machine *machine, uint32_t mode, elementwise *e) {
  *e = (elementwise){.mode = (elementwise_mode)mode};
  if (mode > SHL) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_OP_ELEMENTWISE, "elementwise_mode", mode);
  }
  if (e->mode == LEAKY_RELU) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_OP_ELEMENTWISE, "elementwise_mode",
                    mode);
  }
  e->unary = e->mode == ABS || e->mode == CLZ;
  const npu_feature_map *ofm = &e->output.map;
  if (!npu_output_decode(machine, is_scaled(e->mode), &e->output) ||
      !npu_feature_map_decode(machine, NPU_IFM, ofm->height, ofm->width, ofm->depth, &e->ifm)) {
    return false;
  }
  e->output.accumulator_limit = INT64_MAX;  // results do not pass through the accumulators
  const uint32_t depth = npu_register(machine, NPU_SET_IFM_DEPTH_M1) + 1;
  if (depth != (uint32_t)ofm->depth) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_IFM_DEPTH_M1,
                    "depth of an elementwise IFM, not the OFM's", depth);
  }
  if (!e->unary && !decode_operand2(machine, e)) {
    return false;
  }
  if ((e->mode == ADD || e->mode == SUB) && !decode_operand_scales(machine, e)) {
    return false;
  }
  npu_estimate_kernel(machine, &(npu_work){
                                   .kind = NPU_WORK_ELEMENTWISE,
                                   .output_class = output_class(e),
                                   .ifm = &e->ifm,
                                   .ifm2 = e->unary || e->has_scalar ? NULL : &e->ifm2,
                                   .output = &e->output,
                               });
  return check(machine, e) && take_buffers(machine, e);
}

// Loads IFM2 for a chunk and spreads broadcast values.
static void load_operand2(const elementwise *e, int32_t y, int32_t x, int32_t nx, int32_t c,
                          int32_t nc, int32_t *b) {
  if (e->has_scalar) {
    for (int32_t i = 0; i < nx * nc; ++i) {
      b[i] = e->scalar;
    }
    return;
  }
  const int32_t columns = e->broadcast_x ? 1 : nx;
  const int32_t channels = e->broadcast_c ? 1 : nc;
  const int32_t zero_point = e->ifm2.zero_point;
  npu_load(&e->ifm2, e->broadcast_y ? 0 : y, e->broadcast_x ? 0 : x, columns,
           e->broadcast_c ? 0 : c, channels, b);
  for (int32_t i = 0; i < columns * channels; ++i) {
    b[i] -= zero_point;
  }
  // Starts at the end, so that no value is overwritten before it was spread.
  for (int32_t i = nx * nc - 1; (e->broadcast_x || e->broadcast_c) && i >= 0; --i) {
    const int32_t column = e->broadcast_x ? 0 : i / nc;
    const int32_t channel = e->broadcast_c ? 0 : i % nc;
    b[i] = b[column * channels + channel];
  }
}

static int64_t shift_right(int64_t value, int32_t shift) {
  return shift == 0 ? value : (value + ((int64_t)1 << (shift - 1))) >> shift;
}

static int32_t count_leading_zeros(uint32_t value) {
  int32_t count = 0;
  for (uint32_t bit = (uint32_t)1 << 31; bit != 0 && (value & bit) == 0; bit >>= 1) {
    ++count;
  }
  return count;
}

// Adds or subtracts scaled operands.
static bool add(npu_machine *machine, const elementwise *e, const int32_t *a, const int32_t *b,
                int32_t n) {
  const int64_t sign = e->mode == SUB ? -1 : 1;
  for (int32_t i = 0; i < n; ++i) {
    int64_t left;
    int64_t right;
    if (e->scale_mode == SCALE_BOTH16) {
      left = (int64_t)a[i] * e->scale_a.multiplier;
      right = (int64_t)b[i] * e->multiplier_b;
    } else {
      const bool first = e->scale_mode == SCALE_A32;
      int64_t scaled = 0;
      if (!npu_rescale(first ? a[i] : b[i], e->scale_a, &scaled)) {
        return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_OPA_SCALE, "operand", a[i]);
      }
      const int64_t shifted = (int64_t)(first ? b[i] : a[i]) * ((int64_t)1 << e->shift);
      left = first ? scaled : shifted;
      right = first ? shifted : scaled;
    }
    e->accumulators[i] = left + sign * right;
  }
  return true;
}

static bool compute(npu_machine *machine, const elementwise *e, const int32_t *a, const int32_t *b,
                    int32_t n) {
  int64_t *out = e->accumulators;
  switch (e->mode) {
    case ADD:
    case SUB:
      return add(machine, e, a, b, n);
    case MUL:
      for (int32_t i = 0; i < n; ++i) {
        out[i] = (int64_t)a[i] * b[i];
      }
      return true;
    case MIN:
      for (int32_t i = 0; i < n; ++i) {
        out[i] = a[i] < b[i] ? a[i] : b[i];
      }
      return true;
    case MAX:
      for (int32_t i = 0; i < n; ++i) {
        out[i] = a[i] > b[i] ? a[i] : b[i];
      }
      return true;
    case ABS:
      for (int32_t i = 0; i < n; ++i) {
        out[i] = a[i] < 0 ? -(int64_t)a[i] : a[i];
      }
      return true;
    case CLZ:
      for (int32_t i = 0; i < n; ++i) {
        out[i] = count_leading_zeros((uint32_t)a[i]);
      }
      return true;
    default:
      for (int32_t i = 0; i < n; ++i) {
        if (b[i] < 0 || b[i] > 31) {
          return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_OP_ELEMENTWISE, "shift", b[i]);
        }
        out[i] = e->mode == SHR ? shift_right(a[i], b[i]) : (int32_t)((uint32_t)a[i] << b[i]);
      }
      return true;
  }
}

static bool execute(npu_machine *machine, const elementwise *e) {
  const npu_feature_map *ofm = &e->output.map;
  const int32_t zero_point = e->ifm.zero_point;
  for (int32_t c = 0; c < ofm->depth; c += NPU_CHUNK_CHANNELS) {
    const int32_t rest = ofm->depth - c;
    const int32_t nc = rest < NPU_CHUNK_CHANNELS ? rest : NPU_CHUNK_CHANNELS;
    const int32_t chunk = NPU_CHUNK / nc;
    for (int32_t y = 0; y < ofm->height; ++y) {
      for (int32_t x = 0; x < ofm->width; x += chunk) {
        const int32_t nx = ofm->width - x < chunk ? ofm->width - x : chunk;
        const int32_t n = nx * nc;
        npu_load(&e->ifm, y, x, nx, c, nc, e->a);
        for (int32_t i = 0; zero_point != 0 && i < n; ++i) {
          e->a[i] -= zero_point;
        }
        if (!e->unary) {
          load_operand2(e, y, x, nx, c, nc, e->b);
        }
        if (!compute(machine, e, e->swapped ? e->b : e->a, e->swapped ? e->a : e->b, n) ||
            !npu_output_write(machine, &e->output, y, x, nx, c, nc, NULL, e->accumulators,
                              e->values)) {
          return false;
        }
      }
    }
  }
  return true;
}

bool npu_run_elementwise(npu_machine *machine, uint32_t mode) {
  elementwise e;
  if (!decode(machine, mode, &e)) {
    return false;
  }
  return machine->regions == NULL || execute(machine, &e);
}
