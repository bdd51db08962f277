// SPDX-License-Identifier: Apache-2.0
//
// Flash controllers in an endless busy state, simulated by memory: drivers give up.
#include <stdint.h>

#include "boards/common/expect.h"
#include "firmware/slot/flash_nrf.h"
#include "firmware/slot/flash_stm32.h"

enum { KEY = 0x08, STATUS = 0x10, CONTROL = 0x14, STATUS_BUSY = 1 << 16 };

int main(void) {
  static uint32_t registers[1024];
  static const uint8_t word[4] = {1, 2, 3, 4};
  static uint8_t memory[4096];
  const pl_flash_nrf nrf = {(uintptr_t)registers, sizeof memory, (uintptr_t)memory, sizeof memory};
  const pl_flash driver = pl_flash_nrf_driver(&nrf);
  EXPECT_EQUAL(driver.erase(driver.user, 0), 0);
  EXPECT_EQUAL(driver.program(driver.user, 0, word), 0);
  EXPECT_EQUAL(memory[0], 0);

  const pl_flash_stm32 stm32 = {(uintptr_t)registers, KEY, STATUS, CONTROL, 0, true};
  uint32_t begun = 0;
  EXPECT_EQUAL(pl_flash_stm32_begin(&stm32, 0, &begun), 1);
  EXPECT_EQUAL(pl_flash_stm32_end(&stm32, begun), 1);
  registers[STATUS / sizeof *registers] = STATUS_BUSY;
  EXPECT_EQUAL(pl_flash_stm32_begin(&stm32, 0, &begun), 0);
  EXPECT_EQUAL(pl_flash_stm32_end(&stm32, begun), 0);
  return expect_report();
}
