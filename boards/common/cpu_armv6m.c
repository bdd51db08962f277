// SPDX-License-Identifier: Apache-2.0
//
// Cortex-M0 and M0+: the vector table stays where the core boots from, every fault is a HardFault,
// and there is no register that says why.
#include "boards/common/cpu.h"

void pl_cpu_init(const void *vector_table) { (void)vector_table; }

void pl_cpu_print_fault_status(void) {}
