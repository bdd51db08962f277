// SPDX-License-Identifier: Apache-2.0
//
// Nobody refers to a function of this file.
#include "boards/irqs.h"
#include "boards/tests/programs/irq_calls.h"
#include "boards/tests/programs/last_irq.h"

void PendSV_Handler(void) { pendsv_calls += 1; }

void LAST_HANDLER(void) { last_calls += 1; }
