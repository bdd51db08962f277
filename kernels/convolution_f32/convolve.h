// SPDX-License-Identifier: Apache-2.0
// Float32 convolutions by blocks of output channels and adjacent columns. A column with taps
// outside of the input, and each one of a transposed convolution, is a block of its own.
#ifndef KERNELS_CONVOLUTION_F32_CONVOLVE_H_
#define KERNELS_CONVOLUTION_F32_CONVOLVE_H_

#include "kernels/common/products_f32.h"
#include "kernels/convolution_f32/convolution_f32.h"

PL_INLINE int32_t pl_volume_f32(const int32_t sizes[PL_CONVOLUTION_AXES]) {
  return sizes[0] * sizes[1] * sizes[2];
}

// Taps of an output position on an axis that lie in the input, at equal distances.
typedef struct {
  int32_t first, step;  // taps
  int32_t count;
  int32_t at, move;  // input positions of the first tap, and from one tap to the next
} pl_taps_f32;

// Input position on an axis read by a tap of an output element; -1: none.
static inline int32_t pl_place_f32(const pl_convolution_f32_params *params,
                                   const pl_convolution_f32_dims *dims, int32_t axis,
                                   int32_t output, int32_t tap) {
  const int32_t stride = params->stride[axis];
  const int32_t reach = tap * params->dilation[axis];
  int32_t at = output * stride - params->padding[axis] + reach;
  if (params->transposed) {
    const int32_t from = output + params->padding[axis] - reach;
    at = from < 0 || from % stride != 0 ? -1 : from / stride;
  }
  return at >= 0 && at < dims->input[axis] ? at : -1;
}

static inline pl_taps_f32 pl_taps_f32_of(const pl_convolution_f32_params *params,
                                         const pl_convolution_f32_dims *dims, int32_t axis,
                                         int32_t output) {
  pl_taps_f32 found = {0};
  for (int32_t tap = 0; tap < dims->kernel[axis]; ++tap) {
    const int32_t at = pl_place_f32(params, dims, axis, output, tap);
    if (at < 0) continue;
    if (found.count == 0) {
      found.first = tap;
      found.at = at;
    } else if (found.count == 1) {
      found.step = tap - found.first;
      found.move = at - found.at;
    }
    ++found.count;
  }
  return found;
}

// Results of all channels in some adjacent columns. Offsets are those of the first tap.
typedef struct {
  const pl_convolution_f32_params *params;
  const pl_convolution_f32_dims *dims;
  const pl_convolution_f32_data *data;
  pl_loops_f32 loops;
  int32_t input, weight, output;  // offsets in the first channel
} pl_columns_f32;

PL_INLINE void pl_convolve_channels_f32(pl_block_f32 *block, const pl_columns_f32 *of,
                                        int32_t columns) {
  const pl_convolution_f32_dims *dims = of->dims;
  const int32_t inputs = dims->inputs * pl_volume_f32(dims->input);
  const int32_t area = pl_volume_f32(dims->output);
  const int32_t kernel = pl_volume_f32(dims->kernel);
  const int32_t step = of->params->transposed ? kernel : dims->inputs * kernel;
  const int32_t stride = of->params->stride[PL_CONVOLUTION_AXES - 1];
  const float *input = of->data->input + of->input;
  const float *weights = of->data->weight + of->weight;
  const float *bias = of->data->bias;
  float *output = of->data->output + of->output;
  pl_loops_f32 loops = of->loops;
  if (columns > 1) loops.a[3] = 1;  // all taps lie in the input
  for (int32_t group = 0; group < dims->groups; ++group) {
    const float *weight = weights;
    int32_t channel = 0;
    for (; channel + PL_BLOCK_F32 <= dims->outputs; channel += PL_BLOCK_F32) {
      block(&loops, weight, step, input, stride, bias, PL_BLOCK_F32, columns, output, area);
      weight += PL_BLOCK_F32 * step;
      bias = bias == NULL ? NULL : bias + PL_BLOCK_F32;
      output += PL_BLOCK_F32 * area;
    }
    for (; channel < dims->outputs; ++channel) {
      block(&loops, weight, step, input, stride, bias, 1, columns, output, area);
      weight += step;
      bias = bias == NULL ? NULL : bias + 1;
      output += area;
    }
    input += inputs;
    weights += dims->inputs * dims->outputs * kernel;
  }
}

// One row of results. The offsets are of its first tap, and of the first result.
PL_INLINE void pl_convolve_row_f32(pl_block_f32 *block, pl_columns_f32 *of, int32_t first,
                                   int32_t end) {
  const pl_convolution_f32_params *params = of->params;
  const pl_convolution_f32_dims *dims = of->dims;
  const int32_t axis = PL_CONVOLUTION_AXES - 1;
  const int32_t input = of->input;
  const int32_t weight = of->weight;
  const pl_loops_f32 loops = of->loops;
  int32_t column = 0;
  while (column < dims->output[axis]) {
    of->loops = loops;
    of->input = input + column * params->stride[axis] - params->padding[axis];
    of->weight = weight;
    if (column >= first && column + PL_BLOCK_F32 <= end) {
      pl_convolve_channels_f32(block, of, PL_BLOCK_F32);
      of->output += PL_BLOCK_F32;
      column += PL_BLOCK_F32;
      continue;
    }
    if (column < first || column >= end) {
      const pl_taps_f32 width = pl_taps_f32_of(params, dims, axis, column);
      of->loops.count[3] = width.count;
      of->loops.a[3] = width.step;
      of->loops.b[3] = width.move;
      of->input = input + width.at;
      of->weight = weight + width.first;
    }
    pl_convolve_channels_f32(block, of, 1);
    ++of->output;
    ++column;
  }
}

// The first and the end of the columns with all taps in the input, one stride apart.
static inline void pl_inner_columns_f32(const pl_convolution_f32_params *params,
                                        const pl_convolution_f32_dims *dims, int32_t *first,
                                        int32_t *end) {
  const int32_t axis = PL_CONVOLUTION_AXES - 1;
  const int32_t padding = params->padding[axis];
  const int32_t reach = (dims->kernel[axis] - 1) * params->dilation[axis];
  const int32_t last = dims->input[axis] - 1 - reach + padding;  // times the stride
  *first = (padding + params->stride[axis] - 1) / params->stride[axis];
  *end = last < 0 || params->transposed ? 0 : last / params->stride[axis] + 1;
  if (*end > dims->output[axis]) *end = dims->output[axis];
  if (*first > *end) *first = *end;
}

PL_INLINE void pl_convolve_f32(pl_block_f32 *block, const pl_convolution_f32_params *params,
                               const pl_convolution_f32_dims *dims,
                               const pl_convolution_f32_data *data) {
  const int32_t axis = PL_CONVOLUTION_AXES - 1;
  const int32_t width = dims->input[axis];
  const int32_t kernel = pl_volume_f32(dims->kernel);
  int32_t first;
  int32_t end;
  pl_inner_columns_f32(params, dims, &first, &end);
  pl_loops_f32 loops = {.count = {dims->inputs, 0, 0, dims->kernel[axis]}};
  loops.a[0] = params->transposed ? dims->outputs * kernel : kernel;
  loops.b[0] = pl_volume_f32(dims->input);
  loops.a[3] = 1;
  loops.b[3] = params->dilation[axis];
  if (kernel == 1 && first == 0 && end == dims->output[axis]) {
    // One tap: the innermost loop runs over the input channels.
    loops.count[3] = dims->inputs;
    loops.a[3] = loops.a[0];
    loops.b[3] = loops.b[0];
    loops.count[0] = 1;
  }
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    pl_columns_f32 of = {params, dims, data, loops, 0, 0, 0};
    of.output = batch * dims->groups * dims->outputs * pl_volume_f32(dims->output);
    for (int32_t at = 0; at < dims->output[0] * dims->output[1]; ++at) {
      const pl_taps_f32 depth = pl_taps_f32_of(params, dims, 0, at / dims->output[1]);
      const pl_taps_f32 height = pl_taps_f32_of(params, dims, 1, at % dims->output[1]);
      of.loops = loops;
      of.loops.count[1] = depth.count;
      of.loops.a[1] = depth.step * dims->kernel[1] * dims->kernel[axis];
      of.loops.b[1] = depth.move * dims->input[1] * width;
      of.loops.count[2] = height.count;
      of.loops.a[2] = height.step * dims->kernel[axis];
      of.loops.b[2] = height.move * width;
      of.input = batch * dims->groups * dims->inputs * loops.b[0] +
                 (depth.at * dims->input[1] + height.at) * width;
      of.weight = (depth.first * dims->kernel[1] + height.first) * dims->kernel[axis];
      pl_convolve_row_f32(block, &of, first, end);
    }
  }
}

#endif  // KERNELS_CONVOLUTION_F32_CONVOLVE_H_
