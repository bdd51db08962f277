// SPDX-License-Identifier: Apache-2.0
#include "boards/common/print.h"

#include <stdint.h>

#include "boards/common/console.h"

enum { DIGITS_U32 = 10 };

// Prints `value` with at least `minimum` digits (1..10) and a point before the last `decimals`.
static void print_decimal(uint32_t value, uint32_t minimum, uint32_t decimals) {
  char text[DIGITS_U32 + 1];
  uint32_t at = sizeof text;
  uint32_t digits = 0;
  while (value != 0 || digits < minimum) {
    text[--at] = (char)('0' + value % 10);
    value /= 10;
    ++digits;
    if (digits == decimals) {
      text[--at] = '.';
    }
  }
  pl_console_write(&text[at], (uint32_t)sizeof text - at);
}

static uint32_t magnitude(int32_t value) {
  return value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
}

void pl_print(const char *text) {
  uint32_t length = 0;
  while (text[length] != '\0') {
    ++length;
  }
  pl_console_write(text, length);
}

void pl_print_u32(uint32_t value) { print_decimal(value, 1, 0); }

void pl_print_i32(int32_t value) {
  if (value < 0) {
    pl_console_write("-", 1);
  }
  print_decimal(magnitude(value), 1, 0);
}

void pl_print_fixed(int32_t value, uint32_t decimals) {
  if (value < 0) {
    pl_console_write("-", 1);
  }
  print_decimal(magnitude(value), decimals + 1, decimals);
}

void pl_print_hex32(uint32_t value) {
  char text[10] = {'0', 'x'};
  for (uint32_t i = 0; i < 8; ++i) {
    text[2 + i] = "0123456789abcdef"[(value >> (28 - 4 * i)) & 0xf];
  }
  pl_console_write(text, (uint32_t)sizeof text);
}
