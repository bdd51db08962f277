// SPDX-License-Identifier: Apache-2.0
// A step of a recurrent kernel, four units at a time, for cores with Helium.
#ifndef KERNELS_RECURRENT_RECURRENT_STEP_MVE_H_
#define KERNELS_RECURRENT_RECURRENT_STEP_MVE_H_

#include "kernels/common/dots_mve.h"
#include "kernels/common/requantize_mve.h"
#include "kernels/recurrent/arithmetic.h"

#define PL_UNITS 4

// sigmoid(x) - 1/2 as q16 of an x with PL_FRACTION_BITS; tanh(x / 2) as q15.
static inline int32x4_t pl_centred_sigmoid(const int16_t *table, int32x4_t x) {
  const int32x4_t last = vdupq_n_s32((PL_TABLE_REACH << PL_FRACTION_BITS) - 1);
  const int32x4_t magnitude = vminq_s32(vabsq_s32(x), last);
  const uint32x4_t index = vreinterpretq_u32_s32(vshrq_n_s32(magnitude, PL_STEP_BITS));
  const int32x4_t entry = vldrhq_gather_shifted_offset_s32(table, index);
  const int32x4_t next = vldrhq_gather_shifted_offset_s32(table + 1, index);
  const int32x4_t part = vandq_s32(magnitude, vdupq_n_s32((1 << PL_STEP_BITS) - 1));
  const int32x4_t rise = vmulq_s32(vsubq_s32(next, entry), part);
  const int32x4_t value = vaddq_s32(entry, vrshrq_n_s32(rise, PL_STEP_BITS));
  const int32x4_t sign = vshrq_n_s32(x, 31);
  return vsubq_s32(veorq_s32(value, sign), sign);
}

// q16, in [1, 65535], of a centred sigmoid.
static inline int32x4_t pl_sigmoid(int32x4_t centred) { return vaddq_n_s32(centred, 1 << 15); }

// (x * q16) / 2^16, rounded to nearest, ties upwards; q16 < 2^16 keeps it positive.
static inline int32x4_t pl_scale_q16(int32x4_t x, int32x4_t q16) {
  return vqrdmulhq_s32(x, vshlq_n_s32(q16, 15));
}

// The low halves of the lanes are int16. A store ignores the high halves.
static inline int16x8_t pl_saturate_s16(int32x4_t x) {
  return vqmovnbq_s32(vreinterpretq_s16_s32(x), x);
}

// A number as a state, with `right` fraction bits less, rounded to nearest, ties away from zero.
static inline int32x4_t pl_to_state(int32x4_t x, int32_t right) {
  if (right > 0) x = vaddq_s32(x, vshrq_n_s32(x, 31));
  return vmovlbq_s16(pl_saturate_s16(vrshlq_n_s32(x, -right)));
}

// Sums of four units of a gate. Functions of their own, because their loops take all registers.
static __attribute__((noinline)) int32x4_t pl_gate_sums_s16(const int16_t *x, int32_t count,
                                                            const int8_t *weight, int32_t units) {
  pl_dots dots = {0};
  pl_dots_at(&dots, x, weight, pl_dots_steps_of(units, count));
  pl_dots_run(&dots, count);
  return pl_dots_sums(&dots);
}

static __attribute__((noinline)) int32x4_t pl_gate_sums_s8(const int8_t *x, int32_t count,
                                                           const int8_t *weight, int32_t units) {
  pl_dots dots = {0};
  pl_dots_at(&dots, x, weight, pl_dots_steps_of(units, count));
  pl_dots_run_s8(&dots, count);
  return pl_dots_sums(&dots);
}

// Four units of a step, or the tail of fewer units.
typedef struct {
  int32_t index;  // index of the first
  mve_pred16_t lanes;
  // tanh for the third gate, the centred sigmoid for the others. For an RNN: the pre-activation.
  int32x4_t gate[PL_MAX_GATES];
} pl_recurrent_units;

// The units' hidden states after the step.
typedef int32x4_t (*pl_recurrent_cell)(const pl_recurrent_params *params,
                                       const pl_recurrent_data *data, const pl_recurrent_at *at,
                                       const pl_recurrent_units *units);

// clamp(requantize(sums)).
static inline int32x4_t pl_part(int32x4_t sums, const int32_t *multiplier, const int32_t *shift,
                                mve_pred16_t lanes) {
  const int32x4_t y = pl_requantize_mve(sums, pl_load_factors_mve(multiplier, shift, lanes));
  const int32x4_t reach = vdupq_n_s32(PL_PART_REACH);
  return vminq_s32(vmaxq_s32(y, vnegq_s32(reach)), reach);
}

// Weights and factors are [units / PL_UNITS][gates][PL_UNITS], with fewer for the last units. They
// are read consecutively. Gates, cell and wide are constants in the inlined code. `wide` is set if
// input and output are int16.
PL_INLINE void pl_recurrent_step(const pl_recurrent_params *params, const pl_recurrent_dims *dims,
                                 const pl_recurrent_data *data, int32_t gates,
                                 pl_recurrent_cell cell, bool wide, const pl_recurrent_at *at) {
  const int32_t inputs = dims->input_size;
  const int32_t size = dims->hidden_size;
  const int8_t *input = (const int8_t *)data->input + at->row * inputs * (wide ? 2 : 1);
  const int32_t first_output = at->row * size;
  const int8_t *weight = data->weight;
  const int8_t *hidden_weight = data->hidden_weight;
  const pl_factors_mve to_output =
      pl_same_factors_mve(params->output_multiplier, params->output_shift);
  int32_t first = 0;
  pl_recurrent_units units;
  for (units.index = 0; units.index < size; units.index += PL_UNITS) {
    const int32_t left = size - units.index;
    const int32_t count = left < PL_UNITS ? left : PL_UNITS;
    const mve_pred16_t lanes = vctp32q((uint32_t)count);
    units.lanes = lanes;
    for (int32x4_t *gate = units.gate; gate != units.gate + gates; ++gate) {
      const bool is_third = gate == units.gate + 2;
      int32x4_t x =
          wide ? pl_gate_sums_s16((const int16_t *)(const void *)input, inputs, weight, count)
               : pl_gate_sums_s8(input, inputs, weight, count);
      const int32x4_t bias = vldrwq_z_s32(data->bias + first, lanes);
      x = pl_part(vaddq_s32(x, bias), data->multiplier + first, data->shift + first, lanes);
      int32x4_t sums = pl_gate_sums_s16(at->hidden, size, hidden_weight, count);
      const bool is_n = gates == PL_GRU_GATES && is_third;  // r scales its hidden part
      if (is_n) sums = vaddq_s32(sums, vldrwq_z_s32(data->hidden_bias + units.index, lanes));
      sums = pl_part(sums, data->hidden_multiplier + first, data->hidden_shift + first, lanes);
      if (is_n) sums = pl_scale_q16(sums, pl_sigmoid(units.gate[0]));
      x = vaddq_s32(x, sums);
      if (gates > 1) x = pl_centred_sigmoid(data->table, vshlq_r_s32(x, is_third ? 1 : 0));
      *gate = x;
      weight += count * inputs;
      hidden_weight += count * size;
      first += count;
    }
    const int32x4_t h = cell(params, data, at, &units);
    vstrhq_p_s32(at->new_hidden + units.index, h, lanes);
    const int32x4_t result = pl_requantize_mve(h, to_output);
    const int32_t place = first_output + units.index;
    if (wide) {
      const int32x4_t y = vreinterpretq_s32_s16(pl_saturate_s16(result));
      vstrhq_p_s32((int16_t *)data->output + place, y, lanes);
    } else {
      const int16x8_t y = pl_saturate_s16(vqaddq_n_s32(result, params->output_zero_point));
      const int8x16_t low = vqmovnbq_s16(vreinterpretq_s8_s16(y), y);
      vstrbq_p_s32((int8_t *)data->output + place, vreinterpretq_s32_s8(low), lanes);
    }
  }
}

#endif  // KERNELS_RECURRENT_RECURRENT_STEP_MVE_H_
