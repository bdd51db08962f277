// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "firmware/runtime/plan.h"

void pl_states_reset(const pl_states *states) {
  for (uint32_t i = 0; i < states->count; ++i) {
    const pl_state *const state = &states->items[i];
    if (state->initial != NULL) {
      memcpy(state->data, state->initial, state->bytes);
    } else {
      memset(state->data, state->fill, state->bytes);
    }
  }
}
