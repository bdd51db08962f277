// SPDX-License-Identifier: Apache-2.0
//
// Reads past an array: the host's sanitizers have to notice.
#include <stdint.h>

#include "boards/common/print.h"

int main(void) {
  static const uint32_t array[4] = {1, 2, 3, 4};
  volatile uint32_t index = 4;
  pl_print_u32(array[index]);  // NOLINT(clang-analyzer-security.ArrayBound): on purpose
  pl_print("\nPL:PASS\n");
  return 0;
}
