// SPDX-License-Identifier: Apache-2.0
#include "firmware/ethos_u/driver/registers.h"

uint32_t ethos_u_register_read(uintptr_t base, uint32_t offset) {
  return *(volatile uint32_t *)(base + offset);
}

void ethos_u_register_write(uintptr_t base, uint32_t offset, uint32_t value) {
  *(volatile uint32_t *)(base + offset) = value;
}
