// SPDX-License-Identifier: Apache-2.0
//
// The chip closes its debug port at each reset. The program opens it if UICR says that it is to be
// open, as Nordic's own start-up code does: otherwise a chip would have to be erased as a whole
// each time before it is flashed.
#include <stdint.h>

#include "boards/common/chip.h"

#define UICR_APPROTECT (*(volatile const uint32_t *)0x00ff8000u)
#define UICR_SECUREAPPROTECT (*(volatile const uint32_t *)0x00ff801cu)
#define CTRLAP_APPROTECT_DISABLE (*(volatile uint32_t *)0x50006544u)
#define CTRLAP_SECUREAPPROTECT_DISABLE (*(volatile uint32_t *)0x5000654cu)

void pl_chip_init(void) {
  CTRLAP_APPROTECT_DISABLE = UICR_APPROTECT;
  CTRLAP_SECUREAPPROTECT_DISABLE = UICR_SECUREAPPROTECT;
}
