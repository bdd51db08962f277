// SPDX-License-Identifier: Apache-2.0
//
// Row streaming: a step is a group of kernel calls running row by row. Of their intermediate
// results, only the rows still needed are in memory. The plan compiler writes the tables and the
// calls themselves (aot/plan/emit_rows.py), so there are no pointers to functions. This code
// selects the next call and its rows. Only plans with row groups link it.
//
// The next call is the last unfinished one of the group. If it lacks rows, the call that makes them
// comes first. Intermediate rows are consecutive in a row ring buffer. If it is full, rows without
// further readers are dropped and the others move to its start.
#ifndef FIRMWARE_RUNTIME_ROWS_H_
#define FIRMWARE_RUNTIME_ROWS_H_

#include <stdint.h>

#include "kernels/common/types.h"

#define PL_ROW_CALLS 32  // most of a group
#define PL_ROW_INPUTS 8  // most of a call
#define PL_NO_CALL 255   // not made in the group

// An output row is computed from `reach` rows of this input, from row * stride - pad on. Each input
// row counts 1 << shift times. Outside of the input, the nearest row is used.
typedef struct {
  const uint8_t *data;  // the first row, if all rows lie there before the group runs
  uint32_t row_bytes;
  uint16_t rows;  // total number of rows
  uint16_t stride;
  uint16_t pad;
  uint16_t reach;
  uint8_t shift;
  uint8_t from;  // the call of the group that makes it, or PL_NO_CALL
} pl_row_input;

typedef struct {
  pl_context context;
  const void *params;  // of the kernel, for one row
  const void *dims;
  const void *data;  // without the streamed operands
  uint8_t *output;   // the first row, or the ring
  uint32_t row_bytes;
  uint16_t rows;   // to make
  uint16_t slots;  // of the ring buffer; 0: there is room for all rows
  uint8_t kernel;  // the plan's number of it
  uint8_t input_count;
  const pl_row_input *inputs;
} pl_row_call;

typedef struct {
  const pl_row_call *calls;
  uint32_t count;
} pl_row_group;

// One call: the values that change from row to row.
typedef struct {
  uint32_t index;  // of the row
  const void *inputs[PL_ROW_INPUTS];
  void *output;
  int32_t place;   // index * stride of the first input, minus the count of the rows before
  int32_t height;  // rows of the first input
} pl_row;

// A group while it runs.
typedef struct {
  const pl_row_group *group;
  pl_row row;
  uint32_t waiting;              // calls that wait for the one behind them, the first the last one
  uint8_t waits[PL_ROW_CALLS];   // of the unfinished group
  uint16_t done[PL_ROW_CALLS];   // finished rows
  uint16_t first[PL_ROW_CALLS];  // the row at the start of the ring buffer
} pl_rows;

void pl_rows_begin(pl_rows *rows, const pl_row_group *group);

// Returns the next call, with rows->row set; null if all are done.
const pl_row_call *pl_rows_next(pl_rows *rows);

#endif  // FIRMWARE_RUNTIME_ROWS_H_
