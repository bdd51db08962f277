// SPDX-License-Identifier: Apache-2.0
//
// The vector table follows the header, and the chip was prepared once, before variables.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/link_symbols.h"
#include "boards/common/print.h"
#include "boards/tests/prepared/init.h"

#define VTOR (*(volatile uint32_t *)0xe000ed08u)

enum { FLASH = 0x00000000, HEADER_SIZE = 256 };

static int fail(const char *what) {
  pl_print("PL:FAIL ");
  pl_print(what);
  pl_print("\n");
  return 1;
}

int main(void) {
  const volatile uint32_t *vectors = (const volatile uint32_t *)(uintptr_t)VTOR;
  if (VTOR != FLASH + HEADER_SIZE) {
    return fail("the vector table does not follow the header");
  }
  if (vectors[0] != (uint32_t)(uintptr_t)pl_link_handler_stack_top) {
    return fail("that is no vector table");
  }
  if (TIMER_RELOAD != PREPARED) {
    return fail("the chip is not prepared");
  }
  if (with_a_value != 7 || zero != 0) {
    return fail("the chip was prepared after variables had their values");
  }
  pl_print("PL:PASS\n");
  return 0;
}
