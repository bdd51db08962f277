// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exact_floats.h"

#include "kernels/convolution_f32/convolution_f32.h"

// Input position on an axis read by a tap of an output element; -1: none.
static int32_t place(const pl_convolution_f32_params *params, const pl_convolution_f32_dims *dims,
                     int32_t axis, int32_t output, int32_t tap) {
  const int32_t stride = params->stride[axis];
  const int32_t reach = tap * params->dilation[axis];
  int32_t at = output * stride - params->padding[axis] + reach;
  if (params->transposed) {
    const int32_t from = output + params->padding[axis] - reach;
    at = from < 0 || from % stride != 0 ? -1 : from / stride;
  }
  return at >= 0 && at < dims->input[axis] ? at : -1;
}

// `sum` and the taps of one input channel of the output element at `index`.
static float add_taps(const pl_convolution_f32_params *params, const pl_convolution_f32_dims *dims,
                      const float *input, const float *weight, const int32_t *index, float sum) {
  for (int32_t d = 0; d < dims->kernel[0]; ++d) {
    const int32_t depth = place(params, dims, 0, index[0], d);
    for (int32_t h = 0; h < dims->kernel[1]; ++h) {
      const int32_t row = place(params, dims, 1, index[1], h);
      for (int32_t w = 0; w < dims->kernel[2]; ++w, ++weight) {
        const int32_t column = place(params, dims, 2, index[2], w);
        if (depth < 0 || row < 0 || column < 0) continue;
        sum += input[(depth * dims->input[1] + row) * dims->input[2] + column] * *weight;
      }
    }
  }
  return sum;
}

// One output channel of one element of the batch.
static float *channel(const pl_convolution_f32_params *params, const pl_convolution_f32_dims *dims,
                      const float *input, const float *weight, float bias, float *output) {
  const int32_t area = dims->input[0] * dims->input[1] * dims->input[2];
  const int32_t kernel = dims->kernel[0] * dims->kernel[1] * dims->kernel[2];
  const int32_t step = params->transposed ? dims->outputs * kernel : kernel;
  int32_t index[PL_CONVOLUTION_AXES];
  for (index[0] = 0; index[0] < dims->output[0]; ++index[0]) {
    for (index[1] = 0; index[1] < dims->output[1]; ++index[1]) {
      for (index[2] = 0; index[2] < dims->output[2]; ++index[2]) {
        float sum = bias;
        for (int32_t i = 0; i < dims->inputs; ++i) {
          sum = add_taps(params, dims, input + i * area, weight + i * step, index, sum);
        }
        *output++ = sum;
      }
    }
  }
  return output;
}

pl_status pl_convolution_f32(const pl_context *ctx, const pl_convolution_f32_params *params,
                             const pl_convolution_f32_dims *dims,
                             const pl_convolution_f32_data *data) {
  (void)ctx;
  const int32_t area = dims->input[0] * dims->input[1] * dims->input[2];
  const int32_t kernel = dims->kernel[0] * dims->kernel[1] * dims->kernel[2];
  const int32_t step = params->transposed ? kernel : dims->inputs * kernel;
  const float *input = data->input;
  float *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    const float *weight = data->weight;
    for (int32_t group = 0; group < dims->groups; ++group) {
      for (int32_t o = 0; o < dims->outputs; ++o) {
        const float bias = data->bias == NULL ? 0.0f : data->bias[group * dims->outputs + o];
        output = channel(params, dims, input, weight + o * step, bias, output);
      }
      input += dims->inputs * area;
      weight += dims->inputs * dims->outputs * kernel;
    }
  }
  return PL_OK;
}
