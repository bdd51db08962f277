// SPDX-License-Identifier: Apache-2.0
//
// Code from reset to main, for every Cortex-M.
#include <stdint.h>

#include "boards/common/chip.h"
#include "boards/common/console.h"
#include "boards/common/core.h"
#include "boards/common/cpu.h"
#include "boards/common/link_symbols.h"
#include "boards/common/stack.h"

int main(void);
void pl_reset(void);
_Noreturn void pl_start(void);
void pl_construct(void);

typedef struct {
  const uint32_t *stack_top;
  void (*reset)(void);
} pl_vector_table;

// The linker script adds the other entries: the program's handlers, and pl_fault for all others.
__attribute__((section(".vectors"), used)) static const pl_vector_table vector_table = {
    .stack_top = pl_link_handler_stack_top,
    .reset = pl_reset,
};

// The program runs on the process stack, so exception handlers have an intact stack in any case.
__attribute__((naked)) void pl_reset(void) {
  __asm__ volatile(
      "ldr r0, =pl_link_stack_top\n\t"
      "msr psp, r0\n\t"
      "movs r0, #2\n\t"
      "msr control, r0\n\t"
      "isb\n\t"
      "bl pl_start\n\t"
      ".ltorg");
}

// Applies the chip's and the board's `writes`: address, bits to change, their new value. An odd
// address means no write: the code waits until the bits have the value.
__attribute__((noinline)) static void write_registers(void) {
  for (const uint32_t *item = pl_link_writes_start; item < pl_link_writes_end; item += 3) {
    volatile uint32_t *const place = &PL_REGISTER(item[0] & ~1u);
    if ((item[0] & 1u) != 0) {
      while ((*place & item[1]) != item[2]) {
      }
    } else if (item[1] == UINT32_MAX) {
      *place = item[2];
    } else {
      *place = (*place & ~item[1]) | item[2];
    }
  }
}

// Not inlined: none of it may run before pl_cpu_init has prepared the core for it.
__attribute__((noinline)) static void init_memory(void) {
  const uint32_t *from = pl_link_data_load;
  for (uint32_t *to = pl_link_data_start; to < pl_link_data_end; ++to) {
    *to = *from++;
  }
  for (uint32_t *to = pl_link_bss_start; to < pl_link_bss_end; ++to) {
    *to = 0;
  }
}

// Not inlined: tools/image/stack_bound.py knows it by its name.
__attribute__((noinline)) void pl_construct(void) {
  for (void (*const *function)(void) = pl_link_constructors_start;
       function < pl_link_constructors_end; ++function) {
    (*function)();
  }
}

void pl_start(void) {
  pl_cpu_init(&vector_table);
  write_registers();
#ifdef PL_CHIP_INIT
  pl_chip_init();
#endif
  init_memory();
  pl_stack_paint();
  pl_console_init();
  if (!pl_core_is_right()) {
    pl_exit(1);
  }
  pl_construct();
  pl_exit(main());
}
