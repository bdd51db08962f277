// SPDX-License-Identifier: Apache-2.0
//
// Header read by the ROM of i.MX RT700 from the EVK's octal flash memory before it starts a
// program. The program follows 16 KB later. The header describes how to switch the memory to eight
// pads and read it. It is the XSPI's configuration block of i.MX RT700 Reference Manual,
// "Non-secure boot ROM".
#include <stdint.h>

enum {
  BYTES = 0x4000,
  FLASH_BYTES = 64 << 20,
  TABLE = 0x80,      // sequences of instructions,
  SEQUENCE = 5 * 4,  // size in bytes
  TO_OCTAL = 6,      // the sequence that switches the memory
};

// Instructions of a sequence of the XSPI, two in a word, on one pad or eight.
enum {
  STOP = 0x00,
  COMMAND = 0x01,
  DUMMY = 0x03,
  WRITE = 0x08,
  ADDRESS_DDR = 0x0a,
  READ_DDR = 0x0e,
  COMMAND_DDR = 0x11,
};
enum { ONE_PAD = 0, EIGHT_PADS = 3 };
#define STEP(what, pads, operand) ((uint32_t)(what) << 10 | (uint32_t)(pads) << 8 | (operand))
#define WORD(sequence, word) ((TABLE + (sequence) * SEQUENCE) / 4 + (word))

__attribute__((section(".boot_header"), used)) static const uint32_t header[BYTES / 4] = {
    [0x000 / 4] = 0x42464346,            // "FCFB"
    [1] = 0x56010400,                    // version 1.4
    [0x00c / 4] = 0x00030303,            // samples by the memory's own DQS; hold and setup
    [0x010 / 4] = 1 | 2 << 8 | 1 << 16,  // switch it from one pad to eight, and wait 100 us
    [0x014 / 4] = 1 | TO_OCTAL << 8,     // by one sequence,
    [0x018 / 4] = 2,                     // writing this: double data rate
    [0x040 / 4] = 1 << 4 | 1 << 6,       // slow until then; both edges afterwards
    [0x044 / 4] = 1 | 8 << 8 | 9 << 16,  // serial NOR, eight pads, 200 MHz
    [0x050 / 4] = FLASH_BYTES,           // at the first port

    [WORD(0, 0)] = STEP(COMMAND_DDR, EIGHT_PADS, 0xee) | STEP(COMMAND_DDR, EIGHT_PADS, 0x11) << 16,
    [WORD(0, 1)] = STEP(ADDRESS_DDR, EIGHT_PADS, 32) | STEP(DUMMY, EIGHT_PADS, 18) << 16,
    [WORD(0, 2)] = STEP(DUMMY, EIGHT_PADS, 2) | STEP(READ_DDR, EIGHT_PADS, 4) << 16,
    [WORD(0, 3)] = STEP(STOP, EIGHT_PADS, 0),

    [WORD(3, 0)] = STEP(COMMAND, ONE_PAD, 0x06),  // write enable

    [WORD(TO_OCTAL, 0)] = STEP(COMMAND, ONE_PAD, 0x72) | STEP(COMMAND, ONE_PAD, 0) << 16,
    [WORD(TO_OCTAL, 1)] = STEP(COMMAND, ONE_PAD, 0) | STEP(COMMAND, ONE_PAD, 0) << 16,
    [WORD(TO_OCTAL, 2)] = STEP(COMMAND, ONE_PAD, 0) | STEP(WRITE, ONE_PAD, 1) << 16,

    [0x200 / 4] = 256,       // bytes of a page,
    [0x204 / 4] = 4096,      // a sector,
    [0x208 / 4] = 1,         // commands run at 30 MHz,
    [0x20c / 4] = 2,         // of an octal memory,
    [0x210 / 4] = 64 << 10,  // and of a block
    [0x214 / 4] = 0x07008200,
};
