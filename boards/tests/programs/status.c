// SPDX-License-Identifier: Apache-2.0
//
// Reports success and ends with a failure, inside a counted region.
#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

int main(void) {
  pl_print("PL:PASS\n");
  pl_profile_begin(PL_PROFILE_INFERENCE);
  return 7;
}
