// SPDX-License-Identifier: Apache-2.0
// Shared by all forms of pl_svdf_s8: everything except the two sums.
#ifndef KERNELS_SVDF_FILTERS_H_
#define KERNELS_SVDF_FILTERS_H_

#include "kernels/common/requantize.h"
#include "kernels/svdf/svdf.h"

// sum + the products of an input and weights.
typedef int32_t pl_svdf_add_inputs(const int8_t *input, const int8_t *weight, int32_t size,
                                   int32_t sum);

// sum + the products of frames and weights, modulo 2^32. The frames move to new_state, in order.
// new_state may thus alias the state one frame lower.
typedef uint32_t pl_svdf_add_frames(const int16_t *state, const int16_t *time, int32_t frames,
                                    int16_t *new_state, uint32_t sum);

// `add_inputs` and `add_frames` are constants where this is inlined.
PL_INLINE pl_status pl_svdf_run(const pl_svdf_params *params, const pl_svdf_dims *dims,
                                const pl_svdf_data *data, pl_svdf_add_inputs *add_inputs,
                                pl_svdf_add_frames *add_frames) {
  const int32_t kept = dims->memory - 1;
  const int16_t *state = data->state;
  int16_t *new_state = data->new_state;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    const int8_t *input = data->input + batch * dims->input_size;
    const int8_t *weight = data->weight;
    const int32_t *column_bias = data->column_bias;
    const int16_t *time = data->time;
    for (int32_t unit = 0; unit < dims->units; ++unit) {
      uint32_t sum = (uint32_t)data->bias[unit];
      for (int32_t r = 0; r < dims->rank; ++r) {
        const int32_t x = add_inputs(input, weight, dims->input_size, *column_bias);
        const int32_t y = pl_requantize(x, params->state_multiplier, params->state_shift);
        const int32_t frame = pl_clamp(y, INT16_MIN, INT16_MAX);
        sum += (uint32_t)(state[0] * time[0]) + (uint32_t)(frame * time[kept]);
        sum = add_frames(state + 1, time + 1, kept - 1, new_state, sum);
        new_state[kept - 1] = (int16_t)frame;
        state += kept;
        new_state += kept;
        weight += dims->input_size;
        time += dims->memory;
        ++column_bias;
      }
      const int32_t y = pl_requantize((int32_t)sum, params->multiplier, params->shift);
      *output++ = pl_narrow(y, params->output_zero_point, INT8_MIN, INT8_MAX);
    }
  }
  return PL_OK;
}

#endif  // KERNELS_SVDF_FILTERS_H_
