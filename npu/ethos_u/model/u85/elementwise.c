// SPDX-License-Identifier: Apache-2.0
// OP_ELEMENTWISE of U85.
#include "npu/ethos_u/model/u85/kernel.h"

enum {
  MUL = 0,
  ADD = 1,
  SUB = 2,
  MIN = 3,
  MAX = 4,
  ABS = 6,
  CLZ = 7,
  SHR = 8,
  SHL = 9,
  LSR = 10,
  DIV = 11,
  CMP_EQ = 16,
  CMP_NE = 17,
  CMP_GE = 18,
  CMP_GT = 19,
  AND = 33,
  OR = 34,
  XOR = 35,
  NOT = 36,
  AND_NOT = 42,
  BROADCAST_SCALAR = 8,
};

typedef struct {
  npu_u85_input map;
  npu_u85_scale scale;
  uint32_t broadcast;  // bits: height, width, depth; or BROADCAST_SCALAR
  int64_t scalar;      // without its zero point
  int64_t *row;
} operand;

static bool is_known(uint32_t mode) {
  return mode <= MAX || (mode >= ABS && mode <= DIV) || (mode >= CMP_EQ && mode <= CMP_GT) ||
         (mode >= AND && mode <= NOT) || mode == AND_NOT;
}

static bool is_shift(uint32_t mode) { return mode == SHR || mode == SHL || mode == LSR; }

static bool decode_operand(npu_machine *machine, npu_feature_map_role role, const int32_t shape[3],
                           bool scaled, operand *o) {
  const bool first = role == NPU_IFM;
  o->broadcast = npu_register(machine, first ? NPU_SET_IFM_BROADCAST : NPU_SET_IFM2_BROADCAST);
  o->scale = (npu_u85_scale){.multiplier = 1, .rounding = NPU_U85_NATURAL};
  if (scaled &&
      !npu_u85_scale_decode(machine, first ? NPU_SET_IFM_SCALE : NPU_SET_IFM2_SCALE, &o->scale)) {
    return false;
  }
  if (o->broadcast > BROADCAST_SCALAR) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD,
                    first ? NPU_SET_IFM_BROADCAST : NPU_SET_IFM2_BROADCAST, "broadcast_mode",
                    o->broadcast);
  }
  if (o->broadcast == BROADCAST_SCALAR) {
    const uint32_t precision =
        npu_register(machine, first ? NPU_SET_IFM_PRECISION : NPU_SET_IFM2_PRECISION);
    const uint32_t zero_point =
        npu_register(machine, first ? NPU_SET_IFM_ZERO_POINT : NPU_SET_IFM2_ZERO_POINT);
    const bool is_signed = (precision & 1) != 0 || (precision >> 2 & 3) > 1;
    o->scalar = (int64_t)(int32_t)npu_register(machine, NPU_SET_OP_SCALAR) -
                (is_signed ? (int16_t)zero_point : (int32_t)zero_point);
    return npu_ok(machine);
  }
  return npu_u85_input_decode(machine, role, (o->broadcast & 1) != 0 ? 1 : shape[0],
                              (o->broadcast & 2) != 0 ? 1 : shape[1],
                              (o->broadcast & 4) != 0 ? 1 : shape[2], &o->map);
}

// Loads and scales row y. False on overflow.
static bool load(npu_machine *machine, const operand *o, int32_t y) {
  int64_t count = 1;
  if (o->broadcast == BROADCAST_SCALAR) {
    o->row[0] = o->scalar;
  } else {
    count = (int64_t)o->map.map.width * o->map.map.depth;
    npu_u85_load_row(&o->map, (o->broadcast & 1) != 0 ? 0 : y, o->row);
  }
  for (int64_t i = 0; i < count; ++i) {
    // Products of two fit.
    const int64_t limit = (int64_t)1 << 31;
    if (!npu_u85_rescale(o->row[i], o->scale, &o->row[i]) || o->row[i] > limit ||
        o->row[i] < -limit) {
      return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_IFM_SCALE, "operand", o->row[i]);
    }
  }
  return true;
}

static int64_t value_at(const operand *o, int32_t x, int32_t c) {
  if (o->broadcast == BROADCAST_SCALAR) {
    return o->row[0];
  }
  const int64_t column = (o->broadcast & 2) != 0 ? 0 : x;
  return o->row[column * o->map.map.depth + ((o->broadcast & 4) != 0 ? 0 : c)];
}

static int64_t leading_zeros(int64_t value) {
  int64_t zeros = 0;
  for (uint32_t bit = (uint32_t)1 << 31; bit != 0 && ((uint32_t)value & bit) == 0; bit >>= 1) {
    ++zeros;
  }
  return zeros;
}

static int64_t divided(int64_t a, int64_t b) { return b == 0 ? 0 : a / b; }

static bool shifted(npu_machine *machine, uint32_t mode, uint32_t rounding, int64_t a, int64_t b,
                    int64_t *value) {
  if (b < 0 || b > 31) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM2_PRECISION, "shift", b);
  }
  if (mode == SHL) {
    *value = (int32_t)((uint32_t)a << b);
  } else if (mode == LSR) {
    *value = (uint32_t)a >> b;
  } else {
    const bool up = rounding == NPU_U85_NATURAL && b > 0;
    *value = (a + (up ? (int64_t)1 << (b - 1) : 0)) >> b;
  }
  return true;
}

static int64_t computed(uint32_t mode, int64_t a, int64_t b) {
  switch (mode) {
    case MUL:
      return a * b;
    case ADD:
      return a + b;
    case SUB:
      return a - b;
    case MIN:
      return a < b ? a : b;
    case MAX:
      return a > b ? a : b;
    case ABS:
      return a < 0 ? -a : a;
    case CLZ:
      return leading_zeros(a);
    case DIV:
      return divided(a, b);
    // All bits of a mask are 1 where it is true.
    case CMP_EQ:
      return -(int64_t)(a == b);
    case CMP_NE:
      return -(int64_t)(a != b);
    case CMP_GE:
      return -(int64_t)(a >= b);
    case CMP_GT:
      return -(int64_t)(a > b);
    case AND:
      return a & b;
    case OR:
      return a | b;
    case XOR:
      return a ^ b;
    case NOT:
      return ~a;
    default:
      return a & ~b;
  }
}

bool npu_u85_run_elementwise(npu_machine *machine, uint32_t mode) {
  const bool unary = mode == ABS || mode == CLZ || mode == NOT;
  npu_u85_output output;
  operand a = {0};
  operand b = {0};
  int32_t shape[3];
  if (!is_known(mode)) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, ETHOS_U_NO_FIELD, "elementwise_mode", mode);
  }
  npu_u85_shape(machine, shape);
  if (!decode_operand(machine, NPU_IFM, shape, mode != DIV, &a) ||
      (!unary && !decode_operand(machine, NPU_IFM2, shape, mode != DIV, &b)) ||
      !npu_u85_output_decode(machine,
                             is_shift(mode) || mode == DIV ? NPU_U85_UNSCALED : NPU_U85_BY_REGISTER,
                             &output)) {
    return false;
  }
  output.may_wrap = mode == LSR || mode >= CMP_EQ;
  npu_u85_scale scale = {0};
  if (mode == SHR && (!npu_u85_scale_decode(machine, NPU_SET_OFM_SCALE, &scale) ||
                      scale.rounding == NPU_U85_DOUBLE_SYMMETRIC)) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_OFM_SCALE, "round_mode of SHR",
                    scale.rounding);
  }
  const uint64_t row = (uint64_t)shape[1] * (uint64_t)shape[2] * sizeof(int64_t);
  const uint64_t sizes[3] = {row, row, row};
  void *buffers[3];
  if (!npu_u85_take(machine, sizes, 3, buffers)) {
    return false;
  }
  if (machine->regions == NULL) {
    return true;
  }
  a.row = buffers[0];
  b.row = buffers[1];
  int64_t *values = buffers[2];
  for (int32_t y = 0; y < shape[0]; ++y) {
    if (!load(machine, &a, y) || (!unary && !load(machine, &b, y))) {
      return false;
    }
    for (int32_t x = 0; x < shape[1]; ++x) {
      for (int32_t c = 0; c < shape[2]; ++c) {
        const int64_t first = value_at(&a, x, c);
        const int64_t second = unary ? 0 : value_at(&b, x, c);
        int64_t *value = &values[(int64_t)x * shape[2] + c];
        if (!is_shift(mode)) {
          *value = computed(mode, first, second);
        } else if (!shifted(machine, mode, scale.rounding, first, second, value)) {
          return false;
        }
      }
    }
    if (!npu_u85_output_row(machine, &output, y, values)) {
      return false;
    }
  }
  return true;
}
