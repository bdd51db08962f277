// SPDX-License-Identifier: Apache-2.0
#ifndef FIRMWARE_SLOT_SELF_TEST_H_
#define FIRMWARE_SLOT_SELF_TEST_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/runtime/plan.h"

// Whether all vectors of a package, that `plan` was loaded from, come out to the bit, in order: a
// model with state has its as one sequence.
bool pl_package_self_test(const uint8_t *package, const pl_plan *plan);

#endif  // FIRMWARE_SLOT_SELF_TEST_H_
