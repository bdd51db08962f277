// SPDX-License-Identifier: Apache-2.0
//
// Never ends, and neither does a counted region.
#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

int main(void) {
  pl_print("waiting\n");
  pl_profile_begin(PL_PROFILE_INFERENCE);
  for (;;) {
    __asm__ volatile("nop");
  }
}
