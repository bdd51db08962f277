// SPDX-License-Identifier: Apache-2.0
//
// After reset the LM3S6965 runs from its internal oscillator, with an error of up to 30%. A UART
// does not tolerate that. This code switches to the crystal, without PLL and divider.
#include <stdint.h>

#include "boards/common/chip.h"

#define RCC (*(volatile uint32_t *)0x400fe060u)

enum {
  MAIN_OSCILLATOR_OFF = 1 << 0,
  SOURCE_MASK = 3 << 4,  // 0: the main oscillator
  CRYSTAL_MASK = 15 << 6,
  CRYSTAL_8_MHZ = 14 << 6,
  STARTUP_TURNS = 1 << 16,  // more than the crystal needs
};

void pl_chip_init(void) {
  RCC &= ~(uint32_t)MAIN_OSCILLATOR_OFF;
  for (uint32_t i = 0; i < STARTUP_TURNS; ++i) {
    __asm__ volatile("");
  }
  RCC = (RCC & ~(uint32_t)(SOURCE_MASK | CRYSTAL_MASK)) | CRYSTAL_8_MHZ;
}
