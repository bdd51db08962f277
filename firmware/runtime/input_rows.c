// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "firmware/runtime/plan.h"

static pl_status copy_row(void *user, uint32_t row, void *to) {
  const pl_row_source *const source = user;
  memcpy(to, source->data + (size_t)row * source->row_bytes, source->row_bytes);
  return PL_OK;
}

void pl_input_rows_copy(const pl_input_rows *rows, const void *data) {
  *rows->source = (pl_row_source){copy_row, rows->source, data, rows->row_bytes};
}
