// SPDX-License-Identifier: Apache-2.0
//
// The last part of a boot loader like MCUboot. It starts the image in its slot by the vector table
// after the image's header. It leaves the core as after reset, except for the address of its own
// vector table.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/print.h"

enum { SLOT = 128 * 1024 };           // after the loader's own vector table
enum { MAGIC = 0, HEADER_SIZE = 8 };  // places in the header
static const uint32_t IMAGE_MAGIC = 0x96f3b83d;

#define WORD(address) (*(const volatile uint32_t *)(address))
#define VTOR WORD(0xe000ed08u)
#define MPU_CTRL (*(volatile uint32_t *)0xe000ed94u)

int main(void) {
  const uint32_t image = VTOR + SLOT;
  if (WORD(image + MAGIC) != IMAGE_MAGIC) {
    pl_print("PL:FAIL no image in the slot\n");
    return 1;
  }
  const uint32_t vectors = image + (WORD(image + HEADER_SIZE) & 0xffff);
  pl_print("the loader starts an image\n");
  pl_console_flush();
  MPU_CTRL = 0;
  __asm__ volatile(
      "movs r2, #0\n\t"
#if __ARM_ARCH >= 8
      "msr msplim, r2\n\t"
      "msr psplim, r2\n\t"
#endif
      "msr control, r2\n\t"
      "isb\n\t"
      "msr msp, %0\n\t"
      "bx %1"
      :
      : "r"(WORD(vectors)), "r"(WORD(vectors + 4))
      : "r2", "memory");
  __builtin_unreachable();
}
