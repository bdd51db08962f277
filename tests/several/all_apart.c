// SPDX-License-Identifier: Apache-2.0
//
// Four models without a shared arena.
#include <stdint.h>

#include "firmware/runtime/model.h"
#include "tests/several/apart_1.h"
#include "tests/several/apart_2.h"
#include "tests/several/apart_3.h"
#include "tests/several/apart_4.h"

int main(void) {
  static const pl_plan *const plans[] = {&apart_1, &apart_2, &apart_3, &apart_4};
  uint32_t failures = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    pl_model model;
    failures += pl_model_init(&model, plans[i]) == PL_OK ? 0 : 1;
  }
  return (int)failures;
}
