// SPDX-License-Identifier: Apache-2.0
// A step of a recurrent kernel, one unit at a time, for cores without Helium. The sums are those of
// gates_….h for the core's class. A source includes that header first.
#ifndef KERNELS_RECURRENT_RECURRENT_STEP_H_
#define KERNELS_RECURRENT_RECURRENT_STEP_H_

#include <stddef.h>

#include "kernels/common/requantize.h"
#include "kernels/recurrent/arithmetic.h"
#include "kernels/recurrent/gates.h"

// sigmoid(x) - 1/2 as q16 of an x with PL_FRACTION_BITS; tanh(x / 2) as q15.
static inline int32_t pl_centred_sigmoid(const int16_t *table, int32_t x) {
  int32_t magnitude = x < 0 ? -x : x;
  if (magnitude >= PL_TABLE_REACH << PL_FRACTION_BITS) {
    magnitude = (PL_TABLE_REACH << PL_FRACTION_BITS) - 1;
  }
  const int16_t *entry = table + (magnitude >> PL_STEP_BITS);
  const int32_t rise = (entry[1] - entry[0]) * (magnitude & ((1 << PL_STEP_BITS) - 1));
  const int32_t value = entry[0] + ((rise + (1 << (PL_STEP_BITS - 1))) >> PL_STEP_BITS);
  return x < 0 ? -value : value;
}

// q16, in [1, 65535].
static inline int32_t pl_sigmoid(const int16_t *table, int32_t x) {
  return pl_centred_sigmoid(table, x) + (1 << 15);
}

// q15, of |x| <= 2^29.
static inline int32_t pl_tanh(const int16_t *table, int32_t x) {
  return pl_centred_sigmoid(table, 2 * x);
}

static inline int16_t pl_saturate_s16(int32_t x) {
  return (int16_t)pl_clamp(x, INT16_MIN, INT16_MAX);
}

// A q15 number as a hidden state.
static inline int16_t pl_to_hidden(const pl_recurrent_params *params, int32_t q15) {
  const int32_t right = 15 - params->hidden_bits;
  return pl_saturate_s16(right == 0 ? q15 : pl_shift_right_rounding(q15, right));
}

// One unit of a step.
typedef struct {
  int32_t index;            // index of the unit
  int32_t a[PL_MAX_GATES];  // the input's part of its pre-activations
  int32_t b[PL_MAX_GATES];  // the hidden state's
} pl_recurrent_unit;

// A unit's hidden state after the step.
typedef int16_t (*pl_recurrent_cell)(const pl_recurrent_params *params,
                                     const pl_recurrent_data *data, const pl_recurrent_at *at,
                                     const pl_recurrent_unit *unit);

// clamp(requantize(sums + bias)) of each gate; no bias: null.
static inline void pl_requantize_gates(const int32_t *sums, int32_t gates, const int32_t *bias,
                                       const int32_t *multiplier, const int32_t *shift,
                                       int32_t *part) {
  for (int32_t g = 0; g < gates; ++g) {
    const int32_t sum = sums[g] + (bias == NULL ? 0 : bias[g]);
    part[g] = pl_clamp(pl_requantize(sum, multiplier[g], shift[g]), -PL_PART_REACH, PL_PART_REACH);
  }
}

// Gates, cell and wide are constants in the inlined code. `wide` is set if input and output are
// int16.
PL_INLINE void pl_recurrent_step(const pl_recurrent_params *params, const pl_recurrent_dims *dims,
                                 const pl_recurrent_data *data, int32_t gates,
                                 pl_recurrent_cell cell, bool wide, const pl_recurrent_at *at) {
  const int8_t *input = (const int8_t *)data->input + at->row * dims->input_size * (wide ? 2 : 1);
  const int32_t first_output = at->row * dims->hidden_size;
  pl_recurrent_unit unit;
  for (unit.index = 0; unit.index < dims->hidden_size; ++unit.index) {
    const int32_t first = unit.index * gates;
    int32_t sums[PL_MAX_GATES] = {0};
    pl_add_gate_sums(input, wide, dims->input_size, data->weight + first * dims->input_size, gates,
                     sums);
    pl_requantize_gates(sums, gates, data->bias + first, data->multiplier + first,
                        data->shift + first, unit.a);
    int32_t hidden_sums[PL_MAX_GATES] = {0};
    if (gates == PL_GRU_GATES) hidden_sums[2] = data->hidden_bias[unit.index];
    pl_add_gate_sums(at->hidden, true, dims->hidden_size,
                     data->hidden_weight + first * dims->hidden_size, gates, hidden_sums);
    pl_requantize_gates(hidden_sums, gates, NULL, data->hidden_multiplier + first,
                        data->hidden_shift + first, unit.b);
    const int16_t h = cell(params, data, at, &unit);
    at->new_hidden[unit.index] = h;
    const int32_t y = pl_requantize(h, params->output_multiplier, params->output_shift);
    if (wide) {
      ((int16_t *)data->output)[first_output + unit.index] = pl_saturate_s16(y);
    } else {
      ((int8_t *)data->output)[first_output + unit.index] =
          pl_narrow(y, params->output_zero_point, INT8_MIN, INT8_MAX);
    }
  }
}

#endif  // KERNELS_RECURRENT_RECURRENT_STEP_H_
