// SPDX-License-Identifier: Apache-2.0
//
// Revisions Y and Z of STM32H743 may read wrong data from the AXI SRAM during several simultaneous
// reads. This code limits them to one read at a time. Source: errata sheet ES0392, "Reading from
// AXI SRAM may lead to data read corruption".
#include <stdint.h>

#include "boards/common/chip.h"

#define DBGMCU_IDC (*(volatile const uint32_t *)0x5c001000u)
#define AXI_TARG7_FN_MOD (*(volatile uint32_t *)0x51008108u)

enum { REVISION = 16, FIRST_THAT_READS_RIGHT = 0x2000, READ_ISS_OVERRIDE = 1 };

void pl_chip_init(void) {
  if (DBGMCU_IDC >> REVISION < FIRST_THAT_READS_RIGHT) {
    AXI_TARG7_FN_MOD = READ_ISS_OVERRIDE;
  }
}
