// SPDX-License-Identifier: Apache-2.0
//
// Newer nRF52 close their debug port at each reset. The program opens it if UICR requests that, as
// in Nordic's own start-up code. Otherwise the whole chip has to be erased before each flashing. On
// older ones UICR alone decides, and the register does not exist.
#include <stdint.h>

#include "boards/common/chip.h"

#define FICR_PART (*(volatile const uint32_t *)0x10000100u)
#define FICR_VARIANT (*(volatile const uint32_t *)0x10000104u)
#define UICR_APPROTECT (*(volatile const uint32_t *)0x10001208u)
#define APPROTECT_DISABLE (*(volatile uint32_t *)0x40000558u)

// The variant is four letters, e.g. AAF0; the third one is the revision.
static uint32_t first_revision(uint32_t part) {
  switch (part) {
    case 0x52832:
      return 'G';
    case 0x52833:
      return 'B';
    default:  // 0x52840
      return 'F';
  }
}

void pl_chip_init(void) {
  if ((FICR_VARIANT >> 8 & 0xff) >= first_revision(FICR_PART)) {
    APPROTECT_DISABLE = UICR_APPROTECT;
  }
}
