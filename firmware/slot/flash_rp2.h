// SPDX-License-Identifier: Apache-2.0
//
// Flash memory next to Raspberry Pi's RP2040 and RP2350, by the functions of their ROMs; the code
// detects the chip. Neither code nor data of the flash may be read while it is written. The code
// that calls the ROM runs on the stack, and interrupts wait, 45 ms and more for a sector.
//
// Memory-mapped reads are restored by the code that set them up at the start: the chip's second
// stage, or code left by RP2350's ROM in its boot RAM. The program has to set up a second memory at
// the same pins again.
//
// It is programmed in parts of a page, which Winbond's flash on Pico and Pico 2 supports. Offsets
// are positions in the memory itself: partition tables do not move them.
#ifndef FIRMWARE_SLOT_FLASH_RP2_H_
#define FIRMWARE_SLOT_FLASH_RP2_H_

#include "firmware/slot/flash.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uintptr_t base;  // a multiple of 4 KB, after the program; flash begins at 0x10000000
  uint32_t bytes;
} pl_flash_rp2;

// `flash` is used as long as the driver is. Its functions take 0.6 KB of stack, and the ROM's some
// more.
pl_flash pl_flash_rp2_driver(const pl_flash_rp2 *flash);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_RP2_H_
