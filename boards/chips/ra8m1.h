// SPDX-License-Identifier: Apache-2.0
//
// Start-up of the RA8M1 at any clock: the crystal, and SCI9 with the EK debugger's pins, PA14 and
// PA15. Registers have 8, 16 and 32 bits, and are protected.
#ifndef BOARDS_CHIPS_RA8M1_H_
#define BOARDS_CHIPS_RA8M1_H_

#include <stdint.h>

#define BYTE(address) (*(volatile uint8_t *)(address))
#define HALF(address) (*(volatile uint16_t *)(address))
#define WORD(address) (*(volatile uint32_t *)(address))

#define SCKDIVCR WORD(0x4001e020u)
#define SCKDIVCR2 BYTE(0x4001e024u)
#define SCKSCR BYTE(0x4001e026u)
#define MOSCCR BYTE(0x4001e032u)
#define OSCSF BYTE(0x4001e03cu)
#define SCICKDIVCR BYTE(0x4001e054u)
#define SCICKCR BYTE(0x4001e055u)
#define PRCR_S HALF(0x4001e3fau)
#define MSTPCRB WORD(0x40203004u)
#define PA14PFS WORD(0x40400ab8u)
#define PA15PFS WORD(0x40400abcu)
#define PWPRS BYTE(0x40400d05u)

enum {
  UNPROTECT_CLOCKS_AND_MODULES = 0xa503,
  PROTECT = 0xa500,
  CRYSTAL_IS_STABLE = 1 << 3,
  SOURCE_CRYSTAL = 3,
  SWITCH_REQUEST = 1 << 6,
  SWITCH_READY = 1 << 7,
  SCI9_STOPPED = 1 << 22,
  PFS_WRITABLE = 1 << 6,
  PFS_PROTECTED = 1 << 7,
  PFS_PERIPHERAL = 1 << 16,
  PFS_SCI_ODD = 5 << 24,
};

// Writes to clocks and modules are possible in between.
static inline void pl_ra8m1_unprotect(void) { PRCR_S = UNPROTECT_CLOCKS_AND_MODULES; }
static inline void pl_ra8m1_protect(void) { PRCR_S = PROTECT; }

// Core, buses and UARTs run from the crystal.
static inline void pl_ra8m1_start_crystal(void) {
  MOSCCR = 0;
  while ((OSCSF & CRYSTAL_IS_STABLE) == 0) {
  }
  SCKDIVCR = 0;
  SCKDIVCR2 = 0;
  SCKSCR = SOURCE_CRYSTAL;
  SCICKCR |= SWITCH_REQUEST;
  while ((SCICKCR & SWITCH_READY) == 0) {
  }
  SCICKDIVCR = 0;
  SCICKCR = SOURCE_CRYSTAL | SWITCH_REQUEST;
  SCICKCR = SOURCE_CRYSTAL;
  while ((SCICKCR & SWITCH_READY) != 0) {
  }
}

static inline void pl_ra8m1_start_uart(void) {
  MSTPCRB &= ~(uint32_t)SCI9_STOPPED;
  PWPRS = 0;
  PWPRS = PFS_WRITABLE;
  PA14PFS = PFS_SCI_ODD;
  PA14PFS = PFS_SCI_ODD | PFS_PERIPHERAL;
  PA15PFS = PFS_SCI_ODD;
  PA15PFS = PFS_SCI_ODD | PFS_PERIPHERAL;
  PWPRS = 0;
  PWPRS = PFS_PROTECTED;
}

#endif  // BOARDS_CHIPS_RA8M1_H_
