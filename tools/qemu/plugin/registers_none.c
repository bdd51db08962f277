// SPDX-License-Identifier: Apache-2.0
//
// Before version 2 (QEMU 8.2) a plugin cannot read registers.
#include <stdbool.h>
#include <stdint.h>

#include "tools/qemu/plugin/api.h"

// NOLINTNEXTLINE(readability-non-const-parameter): the interface is that of registers.c
bool api_read_r0(uint32_t *value) {
  (void)value;
  return false;
}
