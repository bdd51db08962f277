// SPDX-License-Identifier: Apache-2.0
//
// The RA8M1 at the 20 MHz of its crystal.
#include "boards/chips/ra8m1.h"
#include "boards/common/chip.h"

void pl_chip_init(void) {
  pl_ra8m1_unprotect();
  pl_ra8m1_start_crystal();
  pl_ra8m1_start_uart();
  pl_ra8m1_protect();
}
