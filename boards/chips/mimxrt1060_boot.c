// SPDX-License-Identifier: Apache-2.0
//
// Header read by the ROM of i.MX RT1060 from the EVK's flash memory before it starts a program. It
// describes faster reads and the program's position. Source: i.MX RT1060 Reference Manual, "System
// Boot".
#include <stdint.h>

enum {
  FLASH = 0x60000000,
  FLASH_BYTES = 8 << 20,
  TABLE = 0x1000,  // the image vector table
  BOOT_DATA = TABLE + 0x20,
  BYTES = 0x2000,
};

// Instructions of a sequence of the FlexSPI, two in a word: on one pad or on four.
enum { COMMAND = 1, ADDRESS = 2, READ = 9, DUMMY = 12 };
enum { ONE_PAD = 0, FOUR_PADS = 2 };
#define STEP(what, pads, operand) ((uint32_t)(what) << 10 | (uint32_t)(pads) << 8 | (operand))

__attribute__((section(".boot_header"), used)) static const uint32_t header[BYTES / 4] = {
    [0x000 / 4] = 0x42464346,            // "FCFB"
    [1] = 0x56010400,                    // version 1.4
    [0x00c / 4] = 0x00030301,            // samples by DQS; hold and setup
    [0x044 / 4] = 1 | 4 << 8 | 6 << 16,  // serial NOR, four pads, 100 MHz
    [0x050 / 4] = FLASH_BYTES,           // at the first port
    [0x080 / 4] = STEP(COMMAND, ONE_PAD, 0xeb) | STEP(ADDRESS, FOUR_PADS, 24) << 16,
    [0x084 / 4] = STEP(DUMMY, FOUR_PADS, 6) | STEP(READ, FOUR_PADS, 4) << 16,
    [0x1c0 / 4] = 256,        // bytes of a page,
    [0x1c4 / 4] = 4096,       // a sector,
    [0x1d0 / 4] = 256 << 10,  // and a block

    [TABLE / 4] = 0x432000d1,         // image vector table of 32 bytes, version 4.3
    [TABLE / 4 + 1] = FLASH + BYTES,  // the program's vector table
    [TABLE / 4 + 4] = FLASH + BOOT_DATA,
    [TABLE / 4 + 5] = FLASH + TABLE,  // itself

    [BOOT_DATA / 4] = FLASH,  // start of the image,
    [BOOT_DATA / 4 + 1] = FLASH_BYTES,
};
