// SPDX-License-Identifier: Apache-2.0
// Registers of Ethos-U55, Ethos-U65 and Ethos-U85, and access to them.
#ifndef FIRMWARE_ETHOS_U_DRIVER_REGISTERS_H_
#define FIRMWARE_ETHOS_U_DRIVER_REGISTERS_H_

#include <stdint.h>

// Offsets from the base address.
enum {
  ETHOS_U_REG_ID = 0x000,
  ETHOS_U_REG_STATUS = 0x004,
  ETHOS_U_REG_CMD = 0x008,
  ETHOS_U_REG_RESET = 0x00C,
  ETHOS_U_REG_QBASE = 0x010,  // and its upper half
  ETHOS_U_REG_QREAD = 0x018,
  ETHOS_U_REG_QCONFIG = 0x01C,
  ETHOS_U_REG_QSIZE = 0x020,
  ETHOS_U_REG_PROT = 0x024,
  ETHOS_U_REG_CONFIG = 0x028,
  ETHOS_U_REG_REGIONCFG = 0x03C,
  ETHOS_U_REG_AXI_LIMIT0 = 0x040,  // U55, U65: four of them
  ETHOS_U_REG_MEM_ATTR0 = 0x040,   // U85: four of them
  ETHOS_U_REG_AXI_SRAM = 0x050,    // U85
  ETHOS_U_REG_AXI_EXT = 0x054,     // U85
  ETHOS_U_REG_BASEP = 0x080,       // eight, each with an upper half
  // Counters; those of U85 are ETHOS_U_U85_COUNTERS bytes behind.
  ETHOS_U_REG_PMCR = 0x180,
  ETHOS_U_REG_PMCNTENSET = 0x184,
  ETHOS_U_REG_PMCNTENCLR = 0x188,
  ETHOS_U_REG_PMOVSSET = 0x18C,
  ETHOS_U_REG_PMOVSCLR = 0x190,
  ETHOS_U_REG_PMCCNTR = 0x1A0,    // and its upper half
  ETHOS_U_REG_PMEVCNTR = 0x300,   // four
  ETHOS_U_REG_PMEVTYPER = 0x380,  // four
  ETHOS_U_U85_COUNTERS = 0x1000,
  ETHOS_U_REGISTERS_SIZE = 0x2000,
};

// Bits of ID, STATUS, CMD, RESET and PROT, CONFIG, PMCR.
enum {
  ETHOS_U_ID_ARCH_MINOR = 20,  // 8 bits
  ETHOS_U_ID_ARCH_MAJOR = 28,  // 4 bits

  ETHOS_U_STATUS_RUNNING = 1 << 0,
  ETHOS_U_STATUS_IRQ_RAISED = 1 << 1,
  ETHOS_U_STATUS_BUS_ERROR = 1 << 2,
  ETHOS_U_STATUS_RESETTING = 1 << 3,
  ETHOS_U_STATUS_PARSE_ERROR = 1 << 4,
  ETHOS_U_STATUS_END_REACHED = 1 << 5,
  ETHOS_U_STATUS_WATCHDOG = 1 << 7,
  ETHOS_U_STATUS_ECC = 1 << 8,
  ETHOS_U_STATUS_BRANCH = 1 << 9,               // U85: a branch out of the stream
  ETHOS_U_STATUS_FAULTING_INTERFACE = 1 << 11,  // AXI port of a bus error
  ETHOS_U_STATUS_FAULTING_CHANNEL = 12,         // first bit of 4

  ETHOS_U_CMD_RUN = 1 << 0,
  ETHOS_U_CMD_CLEAR_IRQ = 1 << 1,
  ETHOS_U_CMD_CLOCK_Q_ENABLE = 1 << 2,  // the clock may be stopped while idle
  ETHOS_U_CMD_POWER_Q_ENABLE = 1 << 3,  // the power may be switched off while idle
  ETHOS_U_CMD_STOP = 1 << 4,

  ETHOS_U_PROT_PRIVILEGED = 1 << 0,
  ETHOS_U_PROT_NON_SECURE = 1 << 1,

  ETHOS_U_CONFIG_MACS = 0xF,             // log2 of the multiply-accumulates a cycle
  ETHOS_U_CONFIG_STREAM_VERSION = 0xF0,  // of the accepted command streams
  ETHOS_U_CONFIG_AXI_PORTS = 0x700,      // U85: log2 of the numbers of AXI ports
  ETHOS_U_CONFIG_CUSTOM_DMA = 1 << 27,
  ETHOS_U_CONFIG_PRODUCT = 28,  // first bit of 4

  ETHOS_U_PMCR_ENABLE = 1 << 0,
  ETHOS_U_PMCR_RESET_EVENTS = 1 << 1,
  ETHOS_U_PMCR_RESET_CYCLES = 1 << 2,
  ETHOS_U_PM_EVENT_COUNTERS = 4,
};
#define ETHOS_U_PM_CYCLE_COUNTER (UINT32_C(1) << 31)

// One register. `base` is the address of the NPU's registers. registers_mmio.c is the bus; tests
// link a fake NPU in its place.
uint32_t ethos_u_register_read(uintptr_t base, uint32_t offset);
void ethos_u_register_write(uintptr_t base, uint32_t offset, uint32_t value);

#endif  // FIRMWARE_ETHOS_U_DRIVER_REGISTERS_H_
