// SPDX-License-Identifier: Apache-2.0
//
// Reports a failure in its own words, inside a counted region.
#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

int main(void) {
  pl_profile_begin(PL_PROFILE_INFERENCE);
  pl_print("PL:FAIL seven is not eight\n");
  return 1;
}
