// SPDX-License-Identifier: Apache-2.0
#include "boards/common/cpu_armv8m.h"

#include <stdint.h>

#include "boards/common/cpu.h"
#include "boards/common/cpu_mainline.h"
#include "boards/common/link_symbols.h"
#include "boards/common/print.h"

void pl_cpu_armv8m_init(const void *vector_table, uint32_t ccr) {
  __asm__ volatile("msr msplim, %0" ::"r"(pl_link_handler_stack_limit));
  __asm__ volatile("msr psplim, %0" ::"r"(pl_link_stack_limit));
  pl_cpu_mainline_init(
      vector_table,
      PL_SHCSR_MEMFAULTENA | PL_SHCSR_BUSFAULTENA | PL_SHCSR_USGFAULTENA | PL_SHCSR_SECUREFAULTENA,
      PL_CCR_DIV_0_TRP | ccr);
}

void pl_cpu_print_fault_status(void) {
  pl_cpu_mainline_print_fault_status();
  pl_print(" sfsr=");
  pl_print_hex32(PL_REGISTER(PL_SFSR));
  pl_print(" sfar=");
  pl_print_hex32(PL_REGISTER(PL_SFAR));
}
