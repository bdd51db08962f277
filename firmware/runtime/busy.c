// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#include "firmware/runtime/plan.h"

volatile uint32_t pl_shared_busy;
