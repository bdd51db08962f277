// SPDX-License-Identifier: Apache-2.0
//
// What RP2040's ROM copies from the first 256 bytes of flash to the end of RAM, and calls, if the
// last word is the CRC of what precedes it. It lets reads of memory become serial reads (03h), which
// every flash memory has, and starts the program behind it; or returns, to a program that calls it
// when the ROM has left the memory otherwise (firmware/slot/flash_rp2.c). RP2040 Datasheet, "Boot
// Sequence" and "SSI".
  .syntax unified
  .section .boot_header, "a", %progbits
  .balign 4
  .global pl_boot_header
pl_boot_header:
  ldr r0, =0x18000000       // SSI
  movs r1, #0
  str r1, [r0, #0x08]       // SSIENR: off while it is set up
  movs r2, #4
  str r2, [r0, #0x14]       // BAUDR: a quarter of the core's clock
  ldr r2, =0x001f0300
  str r2, [r0, #0x00]       // CTRLR0: frames of 32 bits, which follow a command
  str r1, [r0, #0x04]       // CTRLR1: one frame at a time
  ldr r2, =0x03000218
  ldr r3, =0x180000f4
  str r2, [r3]              // SPI_CTRLR0: command 03h of 8 bits, address of 24
  movs r2, #1
  str r2, [r0, #0x08]       // SSIENR
  mov r0, lr
  cmp r0, #0                // what the ROM has there
  beq 1f
  bx lr
1:
  ldr r0, =0x10000100       // the vector table
  ldr r1, =0xe000ed08       // VTOR
  str r0, [r1]
  ldr r1, [r0]
  msr msp, r1
  ldr r1, [r0, #4]
  bx r1
  .ltorg
  .org pl_boot_header + 252
  .word 0x152c062e          // CRC-32 (polynomial 0x04c11db7, from all ones, bits not reversed)
