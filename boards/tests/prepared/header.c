// SPDX-License-Identifier: Apache-2.0
//
// Header as for a ROM: addresses of the stack and the start. Here the core itself reads it at
// reset.
#include <stdint.h>

#include "boards/common/link_symbols.h"

void pl_reset(void);

enum { HEADER_SIZE = 256 };  // as in BUILD.bazel

typedef struct {
  const uint32_t *stack_top;
  void (*start)(void);
  uint32_t rest[HEADER_SIZE / sizeof(uint32_t) - 2];
} boot_header;

__attribute__((section(".boot_header"), used)) static const boot_header header = {
    .stack_top = pl_link_handler_stack_top,
    .start = pl_reset,
};
