// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/svdf/svdf.h"

static int16_t frame_of(const pl_svdf_params *params, const int8_t *input, const int8_t *weight,
                        int32_t size, int32_t sum) {
  for (int32_t i = 0; i < size; ++i) sum += input[i] * weight[i];
  const int32_t y = pl_requantize(sum, params->state_multiplier, params->state_shift);
  return (int16_t)pl_clamp(y, INT16_MIN, INT16_MAX);
}

// The sum over time of one filter, modulo 2^32; its state moves on by a frame, in order, so that it
// may lie where the old one was.
static uint32_t filter(const int16_t *state, const int16_t *time, int32_t kept, int16_t frame,
                       int16_t *new_state) {
  uint32_t sum = (uint32_t)(state[0] * time[0]);
  for (int32_t j = 1; j < kept; ++j) {
    sum += (uint32_t)(state[j] * time[j]);
    new_state[j - 1] = state[j];
  }
  new_state[kept - 1] = frame;
  return sum + (uint32_t)(frame * time[kept]);
}

pl_status pl_svdf_s8(const pl_context *ctx, const pl_svdf_params *params, const pl_svdf_dims *dims,
                     const pl_svdf_data *data) {
  (void)ctx;
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
        const int16_t frame = frame_of(params, input, weight, dims->input_size, *column_bias);
        sum += filter(state, time, kept, frame, new_state);
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
