// SPDX-License-Identifier: Apache-2.0
#ifndef FIRMWARE_SLOT_SELF_TEST_H_
#define FIRMWARE_SLOT_SELF_TEST_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/runtime/plan.h"

// Returns true if all vectors of a package give bit-exact results with `plan`, loaded from it. They
// run in order: those of a model with state are one sequence.
bool pl_package_self_test(const uint8_t *package, const pl_plan *plan);

#endif  // FIRMWARE_SLOT_SELF_TEST_H_
