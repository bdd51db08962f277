// SPDX-License-Identifier: Apache-2.0
//
// The LPC55S69 at 150 MHz: voltage, wait states of the flash memory, PLL1. The factory measured the
// required voltage and stored it after the program's flash memory. The registers of voltages are
// those used by open drivers for the chip. The maker's manual leaves them out.
#include <stdint.h>

#include "boards/common/chip.h"

#define WORD(address) (*(volatile uint32_t *)(address))

enum {
  FACTORY_DCDC0 = 0x0009fcd8,
  FACTORY_DCDC1 = 0x0009fcdc,
  FACTORY_RING_0 = 0x0009fd30,
  FACTORY_RING_1 = 0x0009fd40,
  FMCCR = 0x40000400,
  MAINCLKSELB = 0x40000284,
  PLL1CLKSEL = 0x40000294,
  PLL1CTRL = 0x40000560,
  PLL1STAT = 0x40000564,
  PLL1NDEC = 0x40000568,
  PLL1MDEC = 0x4000056c,
  PLL1PDEC = 0x40000570,
  DCDC0 = 0x40020010,
  DCDC1 = 0x40020014,
  LDOPMU = 0x4002001c,
  PDRUNCFGSET0 = 0x400200c0,
  PDRUNCFGCLR0 = 0x400200c8,
  FLASH_CMD = 0x40034000,
  FLASH_DATAW0 = 0x40034080,
  FLASH_INT_STATUS = 0x40034fe0,
  FLASH_INT_CLR_STATUS = 0x40034fe8,
};

enum {
  IS_VALID = 1 << 0,  // of the factory's data: the number above is valid
  WAIT_STATES = 11,   // of the flash memory, up to 150 MHz
  FMCCR_FLASHTIM = 12,
  FMCCR_PREFETCH = 1 << 5,
  COMMAND_READ_MODE = 2,
  INT_ALL = 31,
  INT_DONE = 1 << 2,
  PDEN_PLL1 = 1 << 10,
  PLL1_SELI = 4,
  PLL1_SELP = 10,
  PLL1_CLOCK_ON = 1 << 21,
  NDEC_REQUEST = 1 << 8,
  MDEC_REQUEST = 1 << 16,
  PDEC_REQUEST = 1 << 5,
  SOURCE_PLL1 = 2,
};

// Hertz of a ring oscillator, which is slow if the transistors are.
enum { RING_TYPICAL = 19300000, RING_SLOW = 16900000, RING_FAST = 21700000 };

// Codes for the core's converter, and for the always-on domain: 1.2 V, 1.15 V or 1.05 V.
enum { DCDC_VOUT = 17, DCDC_1V20 = 10, DCDC_1V15 = 8, DCDC_1V05 = 4 };
enum { LDO_BOOST = 10, LDO_1V06 = 20, LDO_1V11 = 25, LDO_1V16 = 30, LDO_1V22 = 31 };

static uint32_t ring(uint32_t place) {
  const uint32_t measured = WORD(place);
  return (measured & IS_VALID) != 0 ? measured >> 1 : RING_TYPICAL;
}

static void change(uint32_t place, uint32_t mask, uint32_t value) {
  WORD(place) = (WORD(place) & ~mask) | value;
}

static void raise_voltage(void) {
  const uint32_t trim = WORD(FACTORY_DCDC0);
  if ((trim & IS_VALID) != 0) {
    WORD(DCDC0) = trim >> 1;
    WORD(DCDC1) = WORD(FACTORY_DCDC1);
  }
  const uint32_t ring_0 = ring(FACTORY_RING_0);
  const uint32_t ring_1 = ring(FACTORY_RING_1);
  const uint32_t slower = ring_0 < ring_1 ? ring_0 : ring_1;
  uint32_t core = DCDC_1V15;
  uint32_t always_on = LDO_1V22 << LDO_BOOST | LDO_1V16;
  if (slower <= RING_SLOW) {
    core = DCDC_1V20;
  } else if (slower > RING_FAST) {
    core = DCDC_1V05;
    always_on = LDO_1V11 << LDO_BOOST | LDO_1V06;
  }
  change(LDOPMU, 31 << LDO_BOOST | 31, always_on);
  change(DCDC0, 15 << DCDC_VOUT, core << DCDC_VOUT);
}

// Slows down the memory itself and its readers; no prefetch while a command runs.
static void slow_flash_down(void) {
  const uint32_t access = WORD(FMCCR);
  WORD(FMCCR) = access & ~(uint32_t)FMCCR_PREFETCH;
  WORD(FLASH_INT_CLR_STATUS) = INT_ALL;
  change(FLASH_DATAW0, 15, WAIT_STATES);
  WORD(FLASH_CMD) = COMMAND_READ_MODE;
  while ((WORD(FLASH_INT_STATUS) & INT_DONE) == 0) {
  }
  WORD(FMCCR) = (access & ~(15u << FMCCR_FLASHTIM)) | (uint32_t)WAIT_STATES << FMCCR_FLASHTIM;
}

// 12 MHz / 6 * 150 / 2.
static void start_pll(void) {
  WORD(PDRUNCFGSET0) = PDEN_PLL1;
  WORD(PLL1CLKSEL) = 0;  // the oscillator of 12 MHz
  WORD(PLL1CTRL) = PLL1_CLOCK_ON | 53 << PLL1_SELI | 31 << PLL1_SELP;
  WORD(PLL1NDEC) = 6;
  WORD(PLL1NDEC) = 6 | NDEC_REQUEST;
  WORD(PLL1MDEC) = 150;
  WORD(PLL1MDEC) = 150 | MDEC_REQUEST;
  WORD(PLL1PDEC) = 1;
  WORD(PLL1PDEC) = 1 | PDEC_REQUEST;
  WORD(PDRUNCFGCLR0) = PDEN_PLL1;
  while ((WORD(PLL1STAT) & 1) == 0) {
  }
}

void pl_chip_init(void) {
  raise_voltage();
  slow_flash_down();
  start_pll();
  WORD(MAINCLKSELB) = SOURCE_PLL1;
}
