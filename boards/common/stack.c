// SPDX-License-Identifier: Apache-2.0
#include "boards/common/stack.h"

#include <stdbool.h>
#include <stdint.h>

#include "boards/common/link_symbols.h"

enum {
  PAINT = 0x5aa5c33c,
  CANARY_WORDS = 4,
};

// Distances between linker symbols are taken as integers: to the compiler they are separate
// objects.
static uint32_t bytes_between(const uint32_t *low, const uint32_t *high) {
  return (uint32_t)((uintptr_t)high - (uintptr_t)low);
}

uint32_t pl_stack_size(void) { return bytes_between(pl_link_stack_limit, pl_link_stack_top); }

void pl_stack_paint(void) {
  // This function calls nothing, so all below its own frame is free. Some words are left for the
  // frame.
  volatile uint32_t *end = (volatile uint32_t *)__builtin_frame_address(0) - 8;
  for (volatile uint32_t *word = pl_link_stack_limit; word < end; ++word) {
    *word = PAINT;
  }
}

uint32_t pl_stack_used(void) {
  const volatile uint32_t *word = pl_link_stack_limit;
  const uint32_t words = pl_stack_size() / sizeof *word;
  uint32_t untouched = 0;
  while (untouched < words && word[untouched] == PAINT) {
    ++untouched;
  }
  return (words - untouched) * (uint32_t)sizeof *word;
}

bool pl_stack_overflowed(void) {
  return pl_stack_size() - pl_stack_used() < CANARY_WORDS * sizeof(uint32_t);
}
