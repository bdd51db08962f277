// SPDX-License-Identifier: Apache-2.0
//
// Prints received console text, up to a full stop.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/print.h"

enum { PIECE = 4 };

int main(void) {
  char piece[PIECE];
  (void)pl_console_read(piece, 0);
  pl_print("listening\n");
  for (;;) {
    const uint32_t count = pl_console_read(piece, PIECE);
    pl_console_write(piece, count);
    if (count > 0 && piece[count - 1] == '.') break;
  }
  pl_print("\nPL:PASS\n");
  return 0;
}
