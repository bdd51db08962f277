// SPDX-License-Identifier: Apache-2.0
//
// Cortex-M3, M4 and M7.
#include <stdint.h>

#include "boards/common/cpu.h"
#include "boards/common/cpu_mainline.h"
#include "boards/common/link_symbols.h"

#define MPU_TYPE 0xe000ed90u
#define MPU_CTRL 0xe000ed94u
#define MPU_RNR 0xe000ed98u
#define MPU_RBAR 0xe000ed9cu
#define MPU_RASR 0xe000eda0u

enum {
  MPU_TYPE_DREGION = 0xff << 8,
  MPU_CTRL_ENABLE = 1 << 0,
  MPU_CTRL_PRIVDEFENA = 1 << 2,
  MPU_RASR_ENABLE = 1 << 0,
  MPU_RASR_XN = 1 << 28,
};

// Guard bytes below the stack: 2^15, as in boards/board.bzl.
enum { GUARD_LOG2 = 15 };

// These cores have no stack limit. Where there is a memory protection unit, one region below the
// stack without access does the same; everything else stays as it is without the unit.
static void guard_stack(void) {
  if ((PL_REGISTER(MPU_TYPE) & MPU_TYPE_DREGION) == 0) {
    return;
  }
  PL_REGISTER(MPU_RNR) = 0;
  PL_REGISTER(MPU_RBAR) = (uint32_t)(uintptr_t)pl_link_stack_limit - (1u << GUARD_LOG2);
  PL_REGISTER(MPU_RASR) = MPU_RASR_XN | (GUARD_LOG2 - 1) << 1 | MPU_RASR_ENABLE;
  PL_REGISTER(MPU_CTRL) = MPU_CTRL_PRIVDEFENA | MPU_CTRL_ENABLE;
}

void pl_cpu_init(const void *vector_table) {
  guard_stack();
  pl_cpu_mainline_init(vector_table,
                       PL_SHCSR_MEMFAULTENA | PL_SHCSR_BUSFAULTENA | PL_SHCSR_USGFAULTENA,
                       PL_CCR_DIV_0_TRP);
}

void pl_cpu_print_fault_status(void) { pl_cpu_mainline_print_fault_status(); }
