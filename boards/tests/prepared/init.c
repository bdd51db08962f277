// SPDX-License-Identifier: Apache-2.0
#include "boards/tests/prepared/init.h"

#include <stdint.h>

#include "boards/common/chip.h"

volatile uint32_t with_a_value = 7;
volatile uint32_t zero;

void pl_chip_init(void) {
  TIMER_RELOAD = PREPARED;
  with_a_value = 1;
  zero = 1;
}
