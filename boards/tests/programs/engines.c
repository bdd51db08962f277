// SPDX-License-Identifier: Apache-2.0
//
// Calls, through pointers, functions that call through pointers. A plan's steps call engines of
// delegates in this way.
#include <stdint.h>
#include <string.h>

#include "boards/common/print.h"
#include "boards/common/stack.h"

typedef struct {
  uint32_t (*run)(uint32_t depth);
} engine;

__attribute__((noinline)) static uint32_t device(uint32_t depth) {
  volatile uint8_t frame[400];
  memset((void *)frame, (int)depth, sizeof frame);
  return frame[depth % sizeof frame];
}

static const engine devices[] = {{device}};

__attribute__((noinline)) static uint32_t step(uint32_t depth) {
  volatile uint8_t frame[200];
  memset((void *)frame, (int)depth, sizeof frame);
  const volatile engine *chosen = &devices[depth];
  return frame[depth % sizeof frame] + (*chosen->run)(depth);
}

static const engine steps[] = {{step}};

int main(void) {
  const volatile engine *chosen = &steps[0];
  const uint32_t sum = (*chosen->run)(0);
  pl_print("PL:STAT sum ");
  pl_print_u32(sum);
  pl_print("\nPL:STAT stack ");
  pl_print_u32(pl_stack_used());
  pl_print("\nPL:PASS\n");
  return 0;
}
