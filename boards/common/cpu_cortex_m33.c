// SPDX-License-Identifier: Apache-2.0
#include "boards/common/cpu.h"
#include "boards/common/cpu_armv8m.h"

void pl_cpu_init(const void *vector_table) { pl_cpu_armv8m_init(vector_table, 0); }
