// SPDX-License-Identifier: Apache-2.0
//
// The controller of nRF chips as plain memory: one is always ready, and one never.
#include "firmware/slot/flash_nrf.h"

#include <stdint.h>

#include "boards/common/expect.h"

enum { READY = 0x400 / 4, CONFIG = 0x504 / 4, ERASE_PAGE = 0x508 / 4, REGISTERS = 0x600 / 4 };
enum { PAGE_WORDS = 256, READ_ONLY = 0, UNTOUCHED = 7 };

static volatile uint32_t registers[REGISTERS];
_Alignas(4 * PAGE_WORDS) static volatile uint32_t pages[PAGE_WORDS];

int main(void) {
  const pl_flash_nrf flash = {
      .nvmc = (uintptr_t)registers,
      .base = (uintptr_t)pages,
      .bytes = sizeof pages,
      .page_bytes = sizeof pages,
  };
  const pl_flash driver = pl_flash_nrf_driver(&flash);
  const uint8_t word[] = {1, 2, 3, 4};

  registers[READY] = 1;
  EXPECT(driver.erase(driver.user, 0));
  EXPECT_EQUAL(registers[ERASE_PAGE], (uint32_t)(uintptr_t)pages);
  EXPECT_EQUAL(registers[CONFIG], READ_ONLY);
  EXPECT(driver.program(driver.user, 8, word));
  EXPECT_EQUAL(pages[2], 0x04030201);
  EXPECT_EQUAL(registers[CONFIG], READ_ONLY);

  registers[READY] = 0;
  registers[CONFIG] = UNTOUCHED;
  registers[ERASE_PAGE] = UNTOUCHED;
  EXPECT(!driver.erase(driver.user, 0));
  EXPECT_EQUAL(registers[ERASE_PAGE], UNTOUCHED);
  EXPECT_EQUAL(registers[CONFIG], READ_ONLY);
  registers[CONFIG] = UNTOUCHED;
  EXPECT(!driver.program(driver.user, 12, word));
  EXPECT_EQUAL(pages[3], 0);
  EXPECT_EQUAL(registers[CONFIG], READ_ONLY);
  return expect_report();
}
