// SPDX-License-Identifier: Apache-2.0
#include "boards/common/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/cpu.h"
#include "boards/common/link_symbols.h"
#include "boards/common/print.h"
#include "boards/common/semihosting.h"

enum { FIRST_INTERRUPT = 16 };  // exceptions with lower numbers are defined by the core

// Frame pushed by the core for an exception.
typedef struct {
  uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
} exception_frame;

void pl_fault_report(const exception_frame *frame);

// Passes on the stack pointer of the interrupted code: bit 2 of lr selects it.
__attribute__((naked)) void pl_fault(void) {
  __asm__ volatile(
      "mov r1, lr\n\t"
      "movs r2, #4\n\t"
      "mrs r0, msp\n\t"
      "tst r1, r2\n\t"
      "beq 1f\n\t"
      "mrs r0, psp\n"
      "1:\n\t"
      "bl pl_fault_report");
}

static void print_exception(uint32_t number) {
  static const char *const names[] = {
      [2] = "NMI",        [3] = "HardFault",   [4] = "MemManage", [5] = "BusFault",
      [6] = "UsageFault", [7] = "SecureFault", [11] = "SVCall",   [12] = "DebugMonitor",
      [14] = "PendSV",    [15] = "SysTick",
  };
  if (number >= FIRST_INTERRUPT) {
    pl_print("IRQ");
    pl_print_u32(number - FIRST_INTERRUPT);
  } else {
    pl_print(names[number] != NULL ? names[number] : "Exception");
  }
}

// Any RAM may have a thread's stack. After a stack overflow the core pushes nothing, or pushes it
// below the memory.
static bool was_pushed(const exception_frame *frame) {
  if (pl_cpu_stacking_failed()) {
    return false;
  }
  const uint32_t low = (uint32_t)(uintptr_t)frame;
  for (const uint32_t *ram = pl_link_rams_start; ram < pl_link_rams_end; ram += 2) {
    if (low - ram[0] <= ram[1] - sizeof *frame) {
      return true;
    }
  }
  return false;
}

void pl_fault_report(const exception_frame *frame) {
  static const exception_frame unknown = {0};
  const exception_frame *known = was_pushed(frame) ? frame : &unknown;
  if (pl_semihosting_is_at(known->pc)) {
    pl_sleep();  // pl_exit found nobody who listens
  }
  uint32_t exception;
  __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
  pl_print("\nPL:FAULT ");
  print_exception(exception);
  pl_print(" pc=");
  pl_print_hex32(known->pc);
  pl_print(" lr=");
  pl_print_hex32(known->lr);
  pl_print(" sp=");
  pl_print_hex32((uint32_t)(uintptr_t)frame);
  pl_print(" xpsr=");
  pl_print_hex32(known->xpsr);
  pl_cpu_print_fault_status();
  pl_print("\n");
  pl_console_flush();
  pl_semihosting_exit(PL_EXIT_FAULT);
}
