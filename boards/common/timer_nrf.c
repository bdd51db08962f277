// SPDX-License-Identifier: Apache-2.0
//
// A TIMER of Nordic's nRF51 and nRF52, with 16 bits of 1 MHz (nRF51 Series Reference Manual, 18):
// the nRF51 has no SysTick.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/cpu.h"
#include "boards/common/irq.h"
#include "boards/common/link_symbols.h"
#include "boards/common/timer.h"

#define TIMER(offset) PL_REGISTER((uintptr_t)pl_link_timer_base + (offset))
#define TIMER_IRQ ((int32_t)(uintptr_t)pl_link_timer_irq)
#define TASKS_START 0x000
#define TASKS_STOP 0x004
#define TASKS_CLEAR 0x00c
#define EVENTS_COMPARE0 0x140
#define SHORTS 0x200
#define INTENSET 0x304
#define INTENCLR 0x308
#define BITMODE 0x508
#define PRESCALER 0x510
#define CC0 0x540

enum {
  COMPARE0_CLEAR = 1 << 0,
  INT_COMPARE0 = 1 << 16,
  BITMODE_16 = 0,
  TO_1_MHZ = 4,  // 2^4 turns of 16 MHz
  MAX_COUNT = 0xffff,
};

static uint32_t count_rate(void) { return (uint32_t)(uintptr_t)pl_link_timer_clock >> TO_1_MHZ; }

bool pl_timer_start(uint32_t hz) {
  const uint32_t turns = hz == 0 ? 0 : count_rate() / hz;
  if (turns < 1 || turns > MAX_COUNT) {
    return false;
  }
  TIMER(TASKS_STOP) = 1;
  TIMER(BITMODE) = BITMODE_16;
  TIMER(PRESCALER) = TO_1_MHZ;
  TIMER(CC0) = turns;
  TIMER(SHORTS) = COMPARE0_CLEAR;
  TIMER(TASKS_CLEAR) = 1;
  TIMER(EVENTS_COMPARE0) = 0;
  TIMER(INTENSET) = INT_COMPARE0;
  pl_irq_enable(TIMER_IRQ);
  TIMER(TASKS_START) = 1;
  return true;
}

void pl_timer_stop(void) {
  TIMER(TASKS_STOP) = 1;
  TIMER(INTENCLR) = INT_COMPARE0;
  TIMER(EVENTS_COMPARE0) = 0;
  pl_irq_clear_pending(TIMER_IRQ);
}

uint32_t pl_timer_rate(void) {
  return (TIMER(INTENSET) & INT_COMPARE0) == 0 ? 0 : count_rate() / TIMER(CC0);
}

void pl_timer_acknowledge(void) { TIMER(EVENTS_COMPARE0) = 0; }
