// SPDX-License-Identifier: Apache-2.0
//
// Weak: a fake NPU takes their place in tests.
#include "firmware/ethos_u/driver/registers.h"

__attribute__((weak)) uint32_t ethos_u_register_read(uintptr_t base, uint32_t offset) {
  return *(volatile uint32_t *)(base + offset);
}

__attribute__((weak)) void ethos_u_register_write(uintptr_t base, uint32_t offset, uint32_t value) {
  *(volatile uint32_t *)(base + offset) = value;
}
