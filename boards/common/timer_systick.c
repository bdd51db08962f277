// SPDX-License-Identifier: Apache-2.0
//
// The core's own timer counts 24 bits of the core's clock.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/cpu.h"
#include "boards/common/irq.h"
#include "boards/common/link_symbols.h"
#include "boards/common/timer.h"

#define SYST_CSR 0xe000e010u
#define SYST_RVR 0xe000e014u
#define SYST_CVR 0xe000e018u

enum { CSR_ENABLE = 1 << 0, CSR_TICKINT = 1 << 1, CSR_CLKSOURCE = 1 << 2, MAX_RELOAD = 0xffffff };

bool pl_timer_start(uint32_t hz) {
  const uint32_t turns = hz == 0 ? 0 : (uint32_t)(uintptr_t)pl_link_timer_clock / hz;
  if (turns < 2 || turns - 1 > MAX_RELOAD) {
    return false;
  }
  PL_REGISTER(SYST_RVR) = turns - 1;
  PL_REGISTER(SYST_CVR) = 0;
  PL_REGISTER(SYST_CSR) = CSR_ENABLE | CSR_TICKINT | CSR_CLKSOURCE;
  return true;
}

void pl_timer_stop(void) {
  PL_REGISTER(SYST_CSR) = 0;
  pl_irq_clear_pending(PL_IRQ_SYSTICK);
}

uint32_t pl_timer_rate(void) {
  const uint32_t running = CSR_ENABLE | CSR_TICKINT;
  if ((PL_REGISTER(SYST_CSR) & running) != running) {
    return 0;
  }
  return (uint32_t)(uintptr_t)pl_link_timer_clock / (PL_REGISTER(SYST_RVR) + 1);
}

void pl_timer_acknowledge(void) {}
