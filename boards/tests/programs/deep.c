// SPDX-License-Identifier: Apache-2.0
//
// Uses the stack in all ways covered by its bound: direct calls, calls through pointers, large
// frames, library functions.
#include <stdint.h>
#include <string.h>

#include "boards/common/print.h"
#include "boards/common/stack.h"

typedef uint32_t (*step)(uint32_t depth);

__attribute__((noinline)) static uint32_t small(uint32_t depth) {
  volatile uint8_t frame[16];
  memset((void *)frame, (int)depth, sizeof frame);
  return frame[depth % sizeof frame];
}

__attribute__((noinline)) static uint32_t large(uint32_t depth) {
  volatile uint8_t frame[600];
  memset((void *)frame, (int)depth, sizeof frame);
  return frame[depth % sizeof frame] + small(depth);
}

static const step steps[] = {small, large};

int main(void) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
    const volatile step *chosen = &steps[i];
    sum += (*chosen)(i);
  }
  pl_print("PL:STAT sum ");
  pl_print_u32(sum);
  pl_print("\nPL:STAT stack ");
  pl_print_u32(pl_stack_used());
  pl_print("\nPL:PASS\n");
  return 0;
}
