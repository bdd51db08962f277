// SPDX-License-Identifier: Apache-2.0
//
// The cycle counter of the Data Watchpoint and Trace unit, optional in Armv7-M and Armv8-M
// Mainline. If it is missing, as in QEMU, its registers read as 0.
#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

#if __ARM_ARCH >= 7 && !defined(__ARM_ARCH_8M_BASE__)

#define DEMCR (*(volatile uint32_t *)0xE000EDFCU)
#define DEMCR_TRCENA (1U << 24)
#define DWT_CTRL (*(volatile uint32_t *)0xE0001000U)
#define DWT_CTRL_CYCCNTENA 1U
#define DWT_CYCCNT (*(volatile uint32_t *)0xE0001004U)
#define DWT_LAR (*(volatile uint32_t *)0xE0001FB0U)
#define DWT_UNLOCK 0xC5ACCE55U  // M7 locks the unit

static uint32_t counts(void) { return DWT_CTRL & DWT_CTRL_CYCCNTENA; }

uint32_t pl_profile_cycles(void) {
  if (!counts()) {
    DEMCR |= DEMCR_TRCENA;
    DWT_LAR = DWT_UNLOCK;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
  }
  return DWT_CYCCNT;
}

#else

static uint32_t counts(void) { return 0; }

uint32_t pl_profile_cycles(void) { return 0; }

#endif

void pl_profile_report(const void *plan, uint32_t region, uint32_t cycles) {
  if (!counts()) return;
  pl_print("PL:STEP ");
  pl_print_u32(region);
  pl_print(" ");
  pl_print_u32(cycles);
  pl_print(" ");
  pl_print_u32((uint32_t)(uintptr_t)plan);
  pl_print("\n");
}
