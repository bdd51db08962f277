// SPDX-License-Identifier: Apache-2.0
//
// The memories in the board's data exist. Both ends of every pool keep written values, and
// variables and constants start with their values.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/print.h"
#include "boards/tests/programs/memory_pools.h"

static uint32_t initialised[3] = {1, 0x80000000u, 3};
static uint32_t zero[64];
static const uint8_t weights[5]
    __attribute__((section(".rodata.pl_weights.test"))) = {1, 2, 3, 4, 5};

static void require(int holds, const char *what) {
  if (!holds) {
    pl_print("PL:FAIL ");
    pl_print(what);
    pl_print("\n");
    pl_exit(1);
  }
}

static void check_word(volatile uint32_t *word) {
  static const uint32_t patterns[] = {0xa5a5a5a5u, 0x5a5a5a5au, 0};
  for (uint32_t i = 0; i < sizeof patterns / sizeof patterns[0]; ++i) {
    *word = patterns[i];
    require(*word == patterns[i], "a word of a pool does not keep its value");
  }
}

int main(void) {
  const volatile uint32_t *values = initialised;
  require(values[0] == 1 && values[1] == 0x80000000u && values[2] == 3, ".data");
  const volatile uint32_t *nothing = zero;
  for (uint32_t i = 0; i < sizeof zero / sizeof zero[0]; ++i) {
    require(nothing[i] == 0, ".bss");
  }
  const volatile uint8_t *stored = weights;
  for (uint32_t i = 0; i < sizeof weights; ++i) {
    require(stored[i] == i + 1, "weights");
  }
  for (uint32_t i = 0; i < sizeof memory_pools / sizeof memory_pools[0]; ++i) {
    check_word(memory_pools[i].first);
    check_word(memory_pools[i].last);
  }
  pl_print("PL:PASS\n");
  return 0;
}
