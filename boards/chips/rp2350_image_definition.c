// SPDX-License-Identifier: Apache-2.0
//
// Block for RP2350's ROM: it marks a program, its kind, and the address of its vector table.
// Source: RP2350 Datasheet, "Blocks and Block Loops". Zeros fill the space up to the table.
#include <stdint.h>

enum { WORDS = 512 / 4 };

__attribute__((section(".boot_header"), used)) static const uint32_t header[WORDS] = {
    0xffffded3,  // start of a block
    0x10210142,  // item of one word: a program for Arm, secure, for RP2350
    0x00000203,  // item of two words: the vector table
    0x10000200,
    0x000003ff,  // last item: those above have three words
    0x00000000,  // the next block is this one
    0xab123579,  // end
};
