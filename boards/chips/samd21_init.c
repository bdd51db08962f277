// SPDX-License-Identifier: Apache-2.0
//
// SAMD21 at the clock of its oscillator.
#include "boards/chips/samd21.h"
#include "boards/common/chip.h"

void pl_chip_init(void) { start_sercom_clocks(); }
