// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/bounds.h"

#include <string.h>

// The words of a call from this one on.
static const int32_t *words_of(const pl_step *step, uint32_t word) {
  const int32_t *const words = word < 64 ? step->dims : step->params;
  return words + (word & 63);
}

static int32_t within(int64_t value) {
  return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static bool are_in(const int32_t *words, uint32_t count, int32_t low, uint32_t bits) {
  for (uint32_t i = 0; i < count; ++i) {
    if (words[i] < low || words[i] >> bits != 0) return false;
  }
  return true;
}

// Computes an operation on two values; false if a division is impossible. Operands of a division
// are not negative. A core without a divider has a library function for that anyway, and signed
// numbers would need another one of 0.5 KB.
static bool compute(uint32_t operation, int32_t a, int32_t b, int32_t *result) {
  const uint32_t dividend = (uint32_t)a;
  const uint32_t divisor = (uint32_t)b;
  int64_t value = 0;
  if (operation >= PL_CODE_DIV && operation <= PL_CODE_UP && (a < 0 || b < 1)) return false;
  if (operation == PL_CODE_SHIFT && (a < 0 || b < 0 || b > 31)) return false;
  switch (operation) {
    case PL_CODE_ADD:
      value = (int64_t)a + b;
      break;
    case PL_CODE_SUB:
      value = (int64_t)a - b;
      break;
    case PL_CODE_MUL:
      value = (int64_t)a * b;
      break;
    case PL_CODE_DIV:
      value = dividend / divisor;
      break;
    case PL_CODE_MOD:
      value = dividend % divisor;
      break;
    case PL_CODE_UP:
      value = dividend % divisor == 0 ? a : (int64_t)a + b - dividend % divisor;
      break;
    case PL_CODE_SHIFT:
      value = a >> b;
      break;
    case PL_CODE_MAX:
      value = a > b ? a : b;
      break;
    case PL_CODE_LT:
      value = a < b;
      break;
    case PL_CODE_LE:
      value = a <= b;
      break;
    case PL_CODE_EQ:
      value = a == b;
      break;
    case PL_CODE_AND:
      value = a & b;
      break;
    default:  // PL_CODE_OR
      value = a | b;
  }
  *result = within(value);
  return true;
}

static int32_t product(const int32_t *sizes, uint32_t count) {
  int32_t found = 1;
  for (uint32_t i = 0; i < count; ++i) found = within((int64_t)found * sizes[i]);
  return found;
}

// The distance of loops from where they start to their last element, against it with a `sign` of
// -1.
static int32_t distance(const int32_t *sizes, const int32_t *strides, uint32_t count,
                        int32_t sign) {
  int32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t stride = (int64_t)strides[i] * sign;
    if (stride > 0) found = within((sizes[i] - (int64_t)1) * stride + found);
  }
  return found;
}

static const void *pointer_at(const void *data, uint32_t index) {
  uintptr_t pointer = 0;
  memcpy(&pointer, (const uint8_t *)data + index * sizeof pointer, sizeof pointer);
  return (const void *)pointer;
}

static const void *pointer_of(const pl_step *step, uint32_t index) {
  return pointer_at(step->data, index);
}

// A loop over the entries of a table.
typedef struct {
  const uint8_t *code;   // for each
  const int32_t *entry;  // current
  uint32_t left;         // with it
  uint32_t words;        // of each
} loop;

// Starts a loop; false if its table is not constant, or empty.
static bool begin(const pl_bounds *bounds, const pl_step *step, const uint8_t *code, loop *each) {
  const int32_t count = *words_of(step, code[1]);
  *each = (loop){code + 4, pointer_of(step, code[0]), (uint32_t)count, code[2]};
  return count > 0 &&
         pl_is_constant(bounds, each->entry, pl_times(each->left, each->words), sizeof(int32_t));
}

static bool are_factors(const pl_bounds *bounds, const pl_step *step, const uint8_t *code,
                        uint32_t channels) {
  const void *const multiplier = pointer_of(step, code[0]);
  const void *const shift = pointer_of(step, code[1]);
  if (shift == NULL) return pl_is_readable(bounds, multiplier, pl_times(channels, 2), 4);
  return pl_is_readable(bounds, multiplier, channels, 4) &&
         pl_is_readable(bounds, shift, channels, 4);
}

// Returns true if a value passes `check`; its arguments follow at `code`.
static bool holds(uint32_t check, const pl_bounds *bounds, const pl_step *step, const uint8_t *code,
                  int32_t value) {
  if (check == PL_CODE_NEED) return value != 0;
  if (value < 0 || value == INT32_MAX) return false;
  const uint32_t count = (uint32_t)value;
  switch (check) {
    case PL_CODE_READ_IF_ANY:
      if (pointer_of(step, code[0]) == NULL) return true;
      return pl_is_readable(bounds, pointer_of(step, code[0]), count, code[1]);
    case PL_CODE_READ:
      return pl_is_readable(bounds, pointer_of(step, code[0]), count, code[1]);
    case PL_CODE_WRITE:
      return pl_is_writable(bounds, pointer_of(step, code[0]), count, code[1]);
    case PL_CODE_FACTORS:
      return are_factors(bounds, step, code, count);
    default:  // PL_CODE_SCRATCH
      return count <= step->context.scratch_size;
  }
}

// Number of values an item consumes.
static uint32_t taken(uint32_t item) {
  if (item < PL_CODE_NEED) return 0;
  return item < PL_CODE_ADD ? 1 : item < PL_CODE_SELECT ? 2 : 3;
}

bool pl_call_is_inside(const pl_bounds *bounds, const pl_step *step, const uint8_t *code) {
  if ((code[0] != 0 && !pl_is_constant(bounds, step->params, code[0], 4)) ||
      !pl_is_constant(bounds, step->dims, code[1], 4) ||
      !pl_is_constant(bounds, step->data, code[2], sizeof(void *))) {
    return false;
  }
  int32_t stack[PL_CODE_STACK];
  uint32_t depth = 0;
  loop each = {0};
  code += 3;
  for (;;) {
    const uint32_t item = *code++;
    const uint32_t takes = taken(item);
    if (depth < takes || depth - takes >= PL_CODE_STACK) return false;
    int32_t *const value = &stack[depth - takes];
    depth = depth - takes + 1;
    if (item < PL_NUMBER(0)) {
      *value = *words_of(step, item);
      continue;
    }
    if (item < PL_CODE_END) {
      *value = (int32_t)(item - PL_NUMBER(0));
      continue;
    }
    switch (item) {
      case PL_CODE_END:
        return true;
      case PL_CODE_RANGE:
        if (!are_in(words_of(step, code[0]), code[1], code[2], code[3])) return false;
        code += 4;
        --depth;
        break;
      case PL_CODE_LONG:
        *value = code[0] | code[1] << 8 | code[2] << 16;
        code += 3;
        break;
      case PL_CODE_PRODUCT:
        *value = product(words_of(step, code[0]), code[1]);
        code += 2;
        break;
      case PL_CODE_SPAN:
        *value = distance(words_of(step, code[0]), words_of(step, code[1]), code[2], 1);
        *value = within((int64_t)*value + 1);
        code += 3;
        break;
      case PL_CODE_BELOW:
        *value = distance(words_of(step, code[0]), words_of(step, code[1]), code[2], -1);
        code += 3;
        break;
      case PL_CODE_EACH:
        if (!begin(bounds, step, code, &each)) return false;
        *value = code[3];
        code += 4;
        break;
      case PL_CODE_ENTRY:
        if (each.entry == NULL) return false;
        *value = each.entry[*code++];
        break;
      case PL_CODE_READ_ENTRY:
        *value = *value >= 0 && each.entry != NULL &&
                 pl_is_readable(bounds, pointer_at(each.entry, 0), (uint32_t)*value, 1);
        break;
      case PL_CODE_NEXT:
        if (!compute(*code++, value[0], value[1], value)) return false;
        if (--each.left > 0) {
          each.entry += each.words;
          code = each.code;
        }
        break;
      case PL_CODE_SELECT:
        *value = value[0] ? value[1] : value[2];
        break;
      case PL_CODE_NEED:
      case PL_CODE_READ:
      case PL_CODE_WRITE:
      case PL_CODE_READ_IF_ANY:
      case PL_CODE_FACTORS:
      case PL_CODE_SCRATCH:
        if (!holds(item, bounds, step, code, *value)) return false;
        if (item >= PL_CODE_READ && item <= PL_CODE_FACTORS) code += 2;
        --depth;
        break;
      default:
        if (!compute(item, value[0], value[1], value)) return false;
    }
  }
}
