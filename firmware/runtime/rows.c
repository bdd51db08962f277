// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/rows.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// First input row for an output row; below 0 in the padding.
static int32_t start_row(const pl_row_input *input, int32_t row) {
  return row * input->stride - input->pad;
}

static int32_t first_row(const pl_row_input *input, int32_t row) {
  const int32_t start = start_row(input, row);
  const int32_t first = start > 0 ? start >> input->shift : 0;
  return first < input->rows ? first : input->rows - 1;
}

static int32_t end_row(const pl_row_input *input, int32_t row) {
  const int32_t end = start_row(input, row) + input->reach;
  if (end < 1) return 1;
  const int32_t last = (end - 1) >> input->shift;
  return last < input->rows ? last + 1 : input->rows;
}

// The call that has to run before call `index` can make its next row, or `index` itself.
static uint32_t lacking(const pl_rows *rows, uint32_t index) {
  const pl_row_call *const call = &rows->group->calls[index];
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const pl_row_input *const input = &call->inputs[i];
    if (input->from != PL_NO_CALL && rows->done[input->from] < end_row(input, rows->done[index])) {
      return input->from;
    }
  }
  return index;
}

// The first row of a call's output that is still needed.
static int32_t lowest_needed(const pl_rows *rows, uint32_t index) {
  int32_t lowest = rows->done[index];
  for (uint32_t reader = index + 1; reader < rows->group->count; ++reader) {
    const pl_row_call *const call = &rows->group->calls[reader];
    if (rows->done[reader] == call->rows) continue;
    for (uint32_t i = 0; i < call->input_count; ++i) {
      if (call->inputs[i].from != index) continue;
      const int32_t first = first_row(&call->inputs[i], rows->done[reader]);
      if (first < lowest) lowest = first;
    }
  }
  return lowest;
}

// Address for the next row of a call; makes room in its row ring buffer.
static uint8_t *room(pl_rows *rows, uint32_t index) {
  const pl_row_call *const call = &rows->group->calls[index];
  const uint32_t row_bytes = call->row_bytes;
  if (call->slots != 0 && rows->done[index] - rows->first[index] == call->slots) {
    const int32_t lowest = lowest_needed(rows, index);
    const uint32_t dropped = (uint32_t)(lowest - rows->first[index]);
    memmove(call->output, call->output + (size_t)dropped * row_bytes,
            (size_t)(call->slots - dropped) * row_bytes);
    rows->first[index] = (uint16_t)lowest;
  }
  return call->output + (size_t)(rows->done[index] - rows->first[index]) * row_bytes;
}

void pl_rows_begin(pl_rows *rows, const pl_row_group *group) {
  rows->group = group;
  rows->waiting = 0;
  for (uint32_t i = 0; i < group->count; ++i) {
    rows->done[i] = 0;
    rows->first[i] = 0;
  }
}

const pl_row_call *pl_rows_next(pl_rows *rows) {
  const pl_row_call *const calls = rows->group->calls;
  uint32_t index = rows->group->count;
  if (rows->waiting != 0) {
    index = rows->waits[--rows->waiting];
  } else {
    do {
      if (index == 0) return NULL;
      --index;
    } while (rows->done[index] == calls[index].rows);
  }
  for (uint32_t next = lacking(rows, index); next != index; next = lacking(rows, index)) {
    rows->waits[rows->waiting++] = (uint8_t)index;
    index = next;
  }
  const pl_row_call *const call = &calls[index];
  const int32_t row = rows->done[index];
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const pl_row_input *const input = &call->inputs[i];
    const int32_t first = first_row(input, row);
    if (i == 0) {
      rows->row.place = row * input->stride - (first << input->shift);
      rows->row.height = end_row(input, row) - first;
    }
    const uint8_t *data = input->data;
    int32_t at = first;
    if (input->from != PL_NO_CALL) {
      data = calls[input->from].output;
      at -= rows->first[input->from];
    }
    rows->row.inputs[i] = data + (size_t)at * input->row_bytes;
  }
  rows->row.index = (uint32_t)row;
  rows->row.output = room(rows, index);
  ++rows->done[index];
  return call;
}
