// SPDX-License-Identifier: Apache-2.0
// Arithmetic of a recurrent step. Numbers with q15 or q16 in their name are real numbers times 2^15
// or 2^16.
#ifndef KERNELS_RECURRENT_ARITHMETIC_H_
#define KERNELS_RECURRENT_ARITHMETIC_H_

#include <stdbool.h>

#include "kernels/recurrent/recurrent.h"

#define PL_MAX_GATES 4
#define PL_GRU_GATES 3
#define PL_PART_REACH (1 << 28)  // bound of a pre-activation's part
#define PL_FRACTION_BITS 14      // fraction bits of a pre-activation
#define PL_STEP_BITS 9           // bits of a table step: 32 entries for each 1.0
#define PL_TABLE_REACH 12

// A step of one batch.
typedef struct {
  int32_t row;            // of input and output
  const int16_t *hidden;  // before the step
  const int16_t *cell;    // likewise
  int16_t *new_hidden;    // after the step
  int16_t *new_cell;      // likewise, may alias the cell
} pl_recurrent_at;

#endif  // KERNELS_RECURRENT_ARITHMETIC_H_
