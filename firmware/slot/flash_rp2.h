// SPDX-License-Identifier: Apache-2.0
//
// Flash memory beside Raspberry Pi's RP2040 and RP2350, by the functions of their ROMs, of which
// the chip is asked. Nothing is read of it while it is written, neither code nor data: what calls
// the ROM runs on the stack, and interrupts wait, 45 ms and more for a sector. What makes its reads
// memory again is what did so at the start: the chip's second stage, or what RP2350's ROM left in
// its boot RAM. A second memory at the same pins has to be set up anew by the program.
//
// It is programmed in parts of a page, as Winbond's on Pico and Pico 2 can be. Offsets are places
// of the memory itself: partition tables move nothing.
#ifndef FIRMWARE_SLOT_FLASH_RP2_H_
#define FIRMWARE_SLOT_FLASH_RP2_H_

#include "firmware/slot/flash.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uintptr_t base;  // a multiple of 4 KB, behind the program; flash begins at 0x10000000
  uint32_t bytes;
} pl_flash_rp2;

// `flash` is used as long as the driver is. Its functions take 0.6 KB of stack, and the ROM's some
// more.
pl_flash pl_flash_rp2_driver(const pl_flash_rp2 *flash);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_RP2_H_
