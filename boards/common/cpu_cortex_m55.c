// SPDX-License-Identifier: Apache-2.0
//
// Cortex-M55 and M85: low-overhead loops are fast only with the loop and branch cache on.
#include "boards/common/cpu.h"
#include "boards/common/cpu_armv8m.h"
#include "boards/common/cpu_mainline.h"

void pl_cpu_init(const void *vector_table) { pl_cpu_armv8m_init(vector_table, PL_CCR_LOB); }
