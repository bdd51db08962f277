// SPDX-License-Identifier: Apache-2.0
// The loops over phases, groups and images, for the window products available on a core.
#ifndef KERNELS_TRANSPOSE_CONV2D_PHASES_H_
#define KERNELS_TRANSPOSE_CONV2D_PHASES_H_

#include "kernels/common/window_s8.h"
#include "kernels/transpose_conv2d/transpose_conv2d.h"

// A phase's matrix, of one group.
typedef struct {
  const int8_t *weight;
  const int32_t *bias;
  int32_t group;
  int32_t depth;     // per window
  int32_t channels;  // per group
  void *scratch;     // before the windows
} pl_phase_matrix;

// Windows of a row of pixels, `step` apart.
typedef struct {
  const int8_t *first;
  int32_t count;
  int32_t step;
} pl_phase_windows;

// Writes the products with the windows to rows of y.
typedef void pl_multiply_windows(const pl_transpose_conv2d_params *params,
                                 const pl_transpose_conv2d_dims *dims,
                                 const pl_transpose_conv2d_data *data,
                                 const pl_phase_matrix *matrix, pl_phase_windows windows, int8_t *y,
                                 int32_t y_stride);

static inline int32_t pl_smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// One image. Contiguous windows of one pixel row are read in place if they are inside of the input.
// All other windows are read from a copy in `scratch`.
PL_INLINE void pl_convolve_phase(const pl_transpose_conv2d_params *params,
                                 const pl_transpose_conv2d_dims *dims,
                                 const pl_transpose_conv2d_data *data,
                                 const pl_transpose_conv2d_phase *phase,
                                 const pl_window_shape *shape, const pl_phase_matrix *matrix,
                                 const int8_t *image, int8_t *scratch, int8_t *output,
                                 pl_multiply_windows *multiply) {
  const int32_t step = params->stride_w * dims->output_c;
  const int32_t row_count =
      (dims->output_w - phase->output_x + params->stride_w - 1) / params->stride_w;
  const int lies_together = shape->kernel_h == 1 && shape->tap_c == shape->input_c &&
                            (shape->kernel_w == 1 || shape->dilation_w == 1);
  const int32_t whole_x = lies_together ? shape->input_w - shape->kernel_w + 1 : 0;
  int32_t y = phase->input_y;
  for (int32_t oy = phase->output_y - params->first_row; oy < dims->output_h;
       oy += params->stride_h, ++y) {
    if (oy < 0) continue;
    int8_t *row = output + (oy * dims->output_w + phase->output_x) * dims->output_c;
    const int32_t end_x = y >= 0 && y < shape->input_h ? whole_x : 0;
    int32_t x = phase->input_x;
    for (int32_t left = row_count; left > 0;) {
      pl_phase_windows windows;
      if (x >= 0 && x < end_x) {
        const int32_t first = (y * shape->input_w + x) * shape->input_c;
        windows = (pl_phase_windows){image + first, pl_smaller(left, end_x - x), shape->input_c};
      } else {
        windows = (pl_phase_windows){scratch, pl_smaller(left, dims->gathered), matrix->depth};
        for (int32_t i = 0; i < windows.count; ++i) {
          pl_gather_window_s8(shape, image, y, x + i, scratch + i * windows.step);
        }
      }
      multiply(params, dims, data, matrix, windows, row, step);
      left -= windows.count;
      x += windows.count;
      row += windows.count * step;
    }
  }
}

// Args: weight_bytes, of a matrix, by the depth of its windows; bias_words, of a packed channel.
PL_INLINE pl_status pl_convolve_phases(const pl_context *ctx,
                                       const pl_transpose_conv2d_params *params,
                                       const pl_transpose_conv2d_dims *dims,
                                       const pl_transpose_conv2d_data *data,
                                       int32_t (*weight_bytes)(int32_t packed_c, int32_t depth),
                                       int32_t bias_words, pl_multiply_windows *multiply) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t image_bytes = dims->input_h * dims->input_w * dims->input_c;
  const int32_t result_bytes = dims->output_h * dims->output_w * dims->output_c;
  const int32_t tap_c = dims->input_c / dims->groups;
  int8_t *const windows = (int8_t *)ctx->scratch + dims->windows_offset;
  pl_phase_matrix matrix = {
      .weight = data->weight,
      .bias = data->bias,
      .channels = dims->output_c / dims->groups,
      .scratch = ctx->scratch,
  };
  for (int32_t i = 0; i < dims->phases; ++i) {
    const pl_transpose_conv2d_phase *phase = &data->phases[i];
    const pl_window_shape shape = {
        .input_h = dims->input_h,
        .input_w = dims->input_w,
        .input_c = dims->input_c,
        .kernel_h = phase->kernel_h,
        .kernel_w = phase->kernel_w,
        .dilation_h = params->dilation_h,
        .dilation_w = params->dilation_w,
        .tap_c = tap_c,
        .zero_point = (int8_t)params->input_zero_point,
    };
    matrix.depth = phase->kernel_h * phase->kernel_w * tap_c;
    for (matrix.group = 0; matrix.group < dims->groups; ++matrix.group) {
      const int8_t *image = data->input + matrix.group * tap_c;
      int8_t *output = data->output + matrix.group * matrix.channels;
      for (int32_t batch = 0; batch < dims->batches; ++batch) {
        pl_convolve_phase(params, dims, data, phase, &shape, &matrix, image, windows, output,
                          multiply);
        image += image_bytes;
        output += result_bytes;
      }
      matrix.weight += weight_bytes(dims->packed_c, matrix.depth);
      matrix.bias += bias_words * dims->packed_c;
    }
  }
  return PL_OK;
}

#endif  // KERNELS_TRANSPOSE_CONV2D_PHASES_H_
