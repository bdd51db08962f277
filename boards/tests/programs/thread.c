// SPDX-License-Identifier: Apache-2.0
//
// A thread's stack, as every RTOS has: the process stack is a variable.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/print.h"

enum { STACK_WORDS = 512 };

static uint32_t stack[STACK_WORDS];

__attribute__((noinline)) static void in_a_thread(void) {
#ifdef LEAVES
  pl_print("PL:PASS\n");
  pl_exit(0);
#else
  __asm__ volatile("udf #0");
#endif
}

int main(void) {
  __asm__ volatile("msr psp, %0\n\tisb" ::"r"(stack + STACK_WORDS) : "memory");
  in_a_thread();
  return 0;
}
