// SPDX-License-Identifier: Apache-2.0
//
// The chip closes its debug port at each reset. The program opens it if UICR requests that, as in
// Nordic's own start-up code. Otherwise the whole chip has to be erased before each flashing.
//
// The factory's trim values for the registers of oscillators and regulators are in a list. The
// program copies them to the registers. Source: nRF5340 Product Specification, "FICR", TRIMCNF.
#include <stdint.h>

#include "boards/common/chip.h"

#define UICR_APPROTECT (*(volatile const uint32_t *)0x00ff8000u)
#define UICR_SECUREAPPROTECT (*(volatile const uint32_t *)0x00ff801cu)
#define CTRLAP_APPROTECT_DISABLE (*(volatile uint32_t *)0x50006544u)
#define CTRLAP_SECUREAPPROTECT_DISABLE (*(volatile uint32_t *)0x5000654cu)

typedef struct {
  uint32_t address;  // all ones after the last
  uint32_t value;
} factory_trim;

#define FICR_TRIMCNF ((volatile const factory_trim *)0x00ff0300u)
enum { MOST_TRIMS = 32 };

static void copy_trims(void) {
  for (uint32_t i = 0; i < MOST_TRIMS; ++i) {
    const uint32_t address = FICR_TRIMCNF[i].address;
    if (address == UINT32_MAX) return;
    *(volatile uint32_t *)address = FICR_TRIMCNF[i].value;
  }
}

void pl_chip_init(void) {
  copy_trims();
  CTRLAP_APPROTECT_DISABLE = UICR_APPROTECT;
  CTRLAP_SECUREAPPROTECT_DISABLE = UICR_SECUREAPPROTECT;
}
