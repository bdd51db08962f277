// SPDX-License-Identifier: Apache-2.0
//
// Generic clocks of Microchip's SAMD21. Source: SAM D21 Data Sheet, "GCLK".
#ifndef BOARDS_CHIPS_SAMD21_H_
#define BOARDS_CHIPS_SAMD21_H_

#include <stdint.h>

#define GCLK_CLKCTRL (*(volatile uint16_t *)0x40000c02u)

enum {
  CLKCTRL_ENABLE = 1 << 14,  // from generator 0, the core's
  CLKCTRL_SERCOM0 = 0x14,
  CLKCTRL_SERCOM5 = 0x19,
};

// Switches the clocks of all SERCOMs on.
static inline void start_sercom_clocks(void) {
  for (uint32_t id = CLKCTRL_SERCOM0; id <= CLKCTRL_SERCOM5; ++id) {
    GCLK_CLKCTRL = (uint16_t)(CLKCTRL_ENABLE | id);
  }
}

#endif  // BOARDS_CHIPS_SAMD21_H_
