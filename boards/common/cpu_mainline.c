// SPDX-License-Identifier: Apache-2.0
#include "boards/common/cpu_mainline.h"

#include <stdbool.h>
#include <stdint.h>

#include "boards/common/cpu.h"
#include "boards/common/print.h"

enum { CPACR_CP10_CP11_FULL = 0xf << 20 };

void pl_cpu_mainline_init(const void *vector_table, uint32_t shcsr, uint32_t ccr) {
  PL_REGISTER(PL_VTOR) = (uint32_t)(uintptr_t)vector_table;
  PL_REGISTER(PL_CPACR) |= CPACR_CP10_CP11_FULL;
  PL_REGISTER(PL_SHCSR) |= shcsr;
  PL_REGISTER(PL_CCR) |= ccr;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}

bool pl_cpu_stacking_failed(void) {
  return (PL_REGISTER(PL_CFSR) & (PL_CFSR_MSTKERR | PL_CFSR_STKERR | PL_CFSR_STKOF)) != 0;
}

void pl_cpu_mainline_print_fault_status(void) {
  pl_print(" cfsr=");
  pl_print_hex32(PL_REGISTER(PL_CFSR));
  pl_print(" hfsr=");
  pl_print_hex32(PL_REGISTER(PL_HFSR));
  pl_print(" mmfar=");
  pl_print_hex32(PL_REGISTER(PL_MMFAR));
  pl_print(" bfar=");
  pl_print_hex32(PL_REGISTER(PL_BFAR));
}
