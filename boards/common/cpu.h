// SPDX-License-Identifier: Apache-2.0
//
// Differences between the architectures of the M profile; one implementation per file (cpu_*.c).
#ifndef BOARDS_COMMON_CPU_H_
#define BOARDS_COMMON_CPU_H_

#include <stdbool.h>
#include <stdint.h>

// A register at a fixed address.
#define PL_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

// Prepares the core for compiled code: vector table, floating point and vector units, stack limits,
// distinct faults. The start-up code calls it before anything else.
void pl_cpu_init(const void *vector_table);

// Returns true if the core could not save the registers of the code that a fault interrupted.
bool pl_cpu_stacking_failed(void);

// Prints the registers that describe a fault as " name=0x..." each.
void pl_cpu_print_fault_status(void);

#endif  // BOARDS_COMMON_CPU_H_
