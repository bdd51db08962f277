// SPDX-License-Identifier: Apache-2.0
//
// Cortex-M0, M0+ and M23: every fault is a HardFault, and no register has the reason.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/cpu.h"

#define VTOR 0xe000ed08u

// A core without this register, such as M0, ignores the write: its table is at 0.
void pl_cpu_init(const void *vector_table) {
  PL_REGISTER(VTOR) = (uint32_t)(uintptr_t)vector_table;
}

// No register reports it. The stack pointer is then outside of all memories.
bool pl_cpu_stacking_failed(void) { return false; }

void pl_cpu_print_fault_status(void) {}
