// SPDX-License-Identifier: Apache-2.0
//
// The RA8M1 at 480 MHz. The program's memory and the buses run at half of it and less, UARTs from
// the crystal. The core's voltage is the same at every clock, and RAM has its wait state since
// reset.
#include <stdint.h>

#include "boards/chips/ra8m1.h"
#include "boards/common/chip.h"

#define PLLCCR HALF(0x4001e028u)
#define PLLCR BYTE(0x4001e02au)
#define PLLCCR2 HALF(0x4001e04cu)
#define FLWT BYTE(0x4001c11cu)

enum {
  TIMES_96 = (96 - 1) << 8,
  CRYSTAL_BY_2 = 1,
  OUTPUTS_BY_2 = 1 << 8 | 1 << 4 | 1,
  PLL_IS_STABLE = 1 << 5,
  SOURCE_PLL = 5,
  WAIT_STATES_OF_240_MHZ = 4,
  SETTLED = 150 * 480,  // turns of a loop: 150 us and more
};

// Divided by powers of two: FCLK 60 MHz, ICLK and PCLKE 240, BCLK and PCLKA 120, PCLKB and PCLKC
// 60, PCLKD 120.
static const uint32_t DIVIDERS = 0x31122332u;

// After each change of the core's clock its supply must settle before the next step.
static void settle(void) {
  for (uint32_t i = 0; i < SETTLED; ++i) {
    __asm__ volatile("nop");
  }
}

static void start_pll(void) {
  PLLCCR = TIMES_96 | CRYSTAL_BY_2;
  PLLCCR2 = OUTPUTS_BY_2;
  PLLCR = 0;
  while ((OSCSF & PLL_IS_STABLE) == 0) {
  }
}

void pl_chip_init(void) {
  pl_ra8m1_unprotect();
  pl_ra8m1_start_crystal();
  start_pll();
  FLWT = WAIT_STATES_OF_240_MHZ;
  SCKDIVCR = DIVIDERS;
  SCKDIVCR2 = 1;  // 240 MHz first: the largest allowed step
  SCKSCR = SOURCE_PLL;
  settle();
  SCKDIVCR2 = 0;
  settle();
  pl_ra8m1_start_uart();
  pl_ra8m1_protect();
}
