// SPDX-License-Identifier: Apache-2.0
//
// SAMD21 at 48 MHz, the clock of its DFLL in open loop. Sources: SAM D21 Data Sheet, "SYSCTRL" and
// "NVM Software Calibration Area Mapping"; its errata sheet: the DFLL's registers need a clock that
// does not wait for a request.
#include <stdint.h>

#include "boards/chips/samd21.h"
#include "boards/common/chip.h"

#define FACTORY_DFLL (*(volatile const uint32_t *)0x00806024u)
#define SYSCTRL_PCLKSR (*(volatile const uint32_t *)0x4000080cu)
#define SYSCTRL_DFLLCTRL (*(volatile uint16_t *)0x40000824u)
#define SYSCTRL_DFLLVAL (*(volatile uint32_t *)0x40000828u)
#define GCLK_STATUS (*(volatile const uint8_t *)0x40000c01u)
#define GCLK_GENCTRL (*(volatile uint32_t *)0x40000c04u)
#define NVMCTRL_CTRLB (*(volatile uint32_t *)0x41004004u)

enum {
  CTRLB_ONE_WAIT_STATE = 1 << 1,
  DFLLCTRL_ENABLE = 1 << 1,
  PCLKSR_DFLL_READY = 1 << 4,
  DFLLVAL_MIDDLE = 0x200,  // of the fine value
  COARSE_SHIFT = 10,
  FACTORY_SHIFT = 26,
  FACTORY_NONE = 0x3f,  // of a chip without the value
  COARSE_MIDDLE = 0x1f,
  GENCTRL_DFLL = 7 << 8,
  GENCTRL_ENABLE = 1 << 16,
  GENCTRL_IMPROVE_DUTY_CYCLE = 1 << 17,
  STATUS_BUSY = 1 << 7,
};

static void wait_for_dfll(void) {
  while ((SYSCTRL_PCLKSR & PCLKSR_DFLL_READY) == 0) {
  }
}

void pl_chip_init(void) {
  const uint32_t factory = FACTORY_DFLL >> FACTORY_SHIFT;
  const uint32_t coarse = factory == FACTORY_NONE ? COARSE_MIDDLE : factory;
  NVMCTRL_CTRLB |= CTRLB_ONE_WAIT_STATE;
  SYSCTRL_DFLLCTRL = DFLLCTRL_ENABLE;
  wait_for_dfll();
  SYSCTRL_DFLLVAL = coarse << COARSE_SHIFT | DFLLVAL_MIDDLE;
  wait_for_dfll();
  GCLK_GENCTRL = GENCTRL_DFLL | GENCTRL_ENABLE | GENCTRL_IMPROVE_DUTY_CYCLE;
  while ((GCLK_STATUS & STATUS_BUSY) != 0) {
  }
  start_sercom_clocks();
}
