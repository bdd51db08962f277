// SPDX-License-Identifier: Apache-2.0
// Windows of a phase are adjacent. They share columns, same as in conv2d_blocks_s8_mve.c, or are
// read directly from the input.
#include "kernels/common/gemm_blocks_s8.h"
#include "kernels/common/window_columns_mve.h"
#include "kernels/transpose_conv2d/transpose_conv2d.h"

#define LANES 16

// A phase of one group.
typedef struct {
  const pl_transpose_conv2d_params *params;
  const pl_transpose_conv2d_dims *dims;
  const pl_transpose_conv2d_phase *phase;
  pl_gemm_blocks_s8 layer;
  pl_multiply_of_blocks multiply;
  pl_columns_shape shape;
  int8_t *columns;  // scratch
} matrix;

// Windows `from` to `to` of a row of the phase. `image` is that of the group, `row` the results of
// window 0.
static void multiply_columns(const matrix *m, const int8_t *image, int32_t y, int32_t from,
                             int32_t to, int8_t *row) {
  const int32_t output_step = m->params->stride_w * m->dims->output_c;
  const int32_t column = m->shape.kernel_h * m->shape.tap_c;
  const int32_t taps = m->phase->kernel_w;
  const int shared = m->shape.dilation_w == 1;
  const int32_t step = shared ? column : taps * column;
  while (from < to) {
    const int32_t count = to - from < m->dims->gathered ? to - from : m->dims->gathered;
    const int32_t x = m->phase->input_x + from;
    if (shared) {
      pl_copy_columns(&m->shape, image, y, x, count - 1 + taps, m->columns);
    } else {
      for (int32_t i = 0; i < count; ++i) {
        pl_copy_columns(&m->shape, image, y, x + i, taps, m->columns + i * step);
      }
    }
    m->multiply(&m->layer, count, m->columns, step, row + from * output_step, output_step);
    from += count;
  }
}

static inline int32_t clamped(int32_t a, int32_t most) { return a < 0 ? 0 : a < most ? a : most; }

// One image.
static void convolve(const matrix *m, const int8_t *image, int8_t *output) {
  const pl_transpose_conv2d_params *const params = m->params;
  const pl_transpose_conv2d_dims *const dims = m->dims;
  const pl_transpose_conv2d_phase *const phase = m->phase;
  const pl_columns_shape *const shape = &m->shape;
  const int32_t count =
      (dims->output_w - phase->output_x + params->stride_w - 1) / params->stride_w;
  // Windows of one pixel row are runs of the input if they are inside of it.
  const int is_run =
      phase->kernel_h == 1 &&
      (phase->kernel_w == 1 || (shape->dilation_w == 1 && shape->tap_c == shape->input_c));
  const int32_t begin = is_run ? clamped(-phase->input_x, count) : count;
  const int32_t whole = dims->input_w - phase->kernel_w + 1 - phase->input_x;
  const int32_t end = whole > begin ? clamped(whole, count) : begin;
  int32_t y = phase->input_y;
  for (int32_t oy = phase->output_y - params->first_row; oy < dims->output_h;
       oy += params->stride_h, ++y) {
    if (oy < 0) continue;
    int8_t *const row = output + (oy * dims->output_w + phase->output_x) * dims->output_c;
    if (begin == end || y < 0 || y >= dims->input_h) {
      multiply_columns(m, image, y, 0, count, row);
      continue;
    }
    const int32_t step = params->stride_w * dims->output_c;
    multiply_columns(m, image, y, 0, begin, row);
    m->multiply(&m->layer, end - begin,
                image + (y * dims->input_w + phase->input_x + begin) * dims->input_c, dims->input_c,
                row + begin * step, step);
    multiply_columns(m, image, y, end, count, row);
  }
}

// A function of its own: an image with both kernels below links it once.
static __attribute__((noinline)) pl_status run(const pl_context *ctx,
                                               const pl_transpose_conv2d_params *params,
                                               const pl_transpose_conv2d_dims *dims,
                                               const pl_transpose_conv2d_data *data,
                                               pl_multiply_of_blocks multiply) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t tap_c = dims->input_c / dims->groups;
  matrix m = {
      .params = params,
      .dims = dims,
      .layer =
          {
              .weight = data->weight,
              .constants = data->bias,
              .channels = dims->output_c / dims->groups,
              .zero_point = params->output_zero_point,
              .activation_min = params->activation_min,
              .activation_max = params->activation_max,
          },
      .multiply = multiply,
      .shape =
          {
              .input_h = dims->input_h,
              .input_w = dims->input_w,
              .input_c = dims->input_c,
              .dilation_h = params->dilation_h,
              .dilation_w = params->dilation_w,
              .tap_c = tap_c,
              .zero_point = params->input_zero_point,
          },
      .columns = ctx->scratch,
  };
  for (int32_t i = 0; i < dims->phases; ++i) {
    m.phase = &data->phases[i];
    m.shape.kernel_h = m.phase->kernel_h;
    pl_set_places(&m.shape);
    m.layer.depth = m.phase->kernel_h * m.phase->kernel_w * tap_c;
    for (int32_t group = 0; group < dims->groups; ++group) {
      const int8_t *image = data->input + group * tap_c;
      int8_t *output = data->output + group * m.layer.channels;
      for (int32_t batch = 0; batch < dims->batches; ++batch) {
        convolve(&m, image, output);
        image += dims->input_h * dims->input_w * dims->input_c;
        output += dims->output_h * dims->output_w * dims->output_c;
      }
      m.layer.weight += dims->packed_c * ((m.layer.depth + LANES - 1) / LANES * LANES);
      m.layer.constants += 3 * dims->packed_c;
    }
  }
  return PL_OK;
}

pl_status pl_transpose_conv2d_blocks_s8(const pl_context *ctx,
                                        const pl_transpose_conv2d_params *params,
                                        const pl_transpose_conv2d_dims *dims,
                                        const pl_transpose_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_multiply_blocks_s8);
}

pl_status pl_transpose_conv2d_last_blocks_s8(const pl_context *ctx,
                                             const pl_transpose_conv2d_params *params,
                                             const pl_transpose_conv2d_dims *dims,
                                             const pl_transpose_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_multiply_last_blocks_s8);
}
