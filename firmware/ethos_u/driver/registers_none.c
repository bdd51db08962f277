// SPDX-License-Identifier: Apache-2.0
// The build machine has no NPU on its bus: it reads as zeros.
#include "firmware/ethos_u/driver/registers.h"

uint32_t ethos_u_register_read(uintptr_t base, uint32_t offset) {
  (void)base;
  (void)offset;
  return 0;
}

void ethos_u_register_write(uintptr_t base, uint32_t offset, uint32_t value) {
  (void)base;
  (void)offset;
  (void)value;
}
