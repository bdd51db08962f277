// SPDX-License-Identifier: Apache-2.0
//
// Overwrites the lowest word of the stack, like an otherwise undetected overflow. A counted region
// stays open.
#include "boards/common/link_symbols.h"
#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

int main(void) {
  pl_profile_begin(PL_PROFILE_INFERENCE);
  pl_link_stack_limit[0] = 0;
  pl_print("PL:PASS\n");
  return 0;
}
