// SPDX-License-Identifier: Apache-2.0
// Windows of a virtual concat as overlapping rows of a matrix. The windows of an output row share
// columns. The columns are copied from the pieces to scratch, each with all kernel rows, padding
// included.
#ifndef KERNELS_CONV2D_PIECES_WINDOWS_OF_PIECES_H_
#define KERNELS_CONV2D_PIECES_WINDOWS_OF_PIECES_H_

#include "kernels/conv2d_pieces/conv2d_pieces.h"

// Multiplies `rows` windows, `step` bytes apart, and writes their pixels.
typedef void pl_multiply_windows(const void *layer, int32_t rows, const int8_t *windows,
                                 int32_t step, int8_t *output, int32_t output_c);

typedef void pl_copy_tap(int8_t *to, const int8_t *from, int32_t bytes);
typedef void pl_fill_tap(int8_t *to, int8_t value, int32_t bytes);

typedef struct {
  pl_multiply_windows *multiply;
  pl_copy_tap *copy;
  pl_fill_tap *fill;
} pl_piece_functions;

// Copies one piece's channels of the columns with the first tap (y, x0). `first_row` is the row of
// the piece at its address.
PL_INLINE void pl_copy_columns_of_piece(const pl_conv2d_pieces_params *params,
                                        const pl_conv2d_pieces_dims *dims,
                                        const pl_conv2d_piece *piece,
                                        const pl_piece_functions *functions, int32_t first_row,
                                        int32_t y, int32_t x0, int32_t count, int8_t *to) {
  const int32_t channels = piece->channels;
  const int32_t row_bytes = (dims->input_w >> piece->shift_w) * channels;
  for (int32_t ky = 0; ky < dims->kernel_h; ++ky) {
    const int is_inside = y >= 0 && y < dims->input_h;
    const int32_t row = is_inside ? (y >> piece->shift_h) - first_row : 0;
    const int8_t *const from = piece->address + row * row_bytes;
    int8_t *tap = to;
    int32_t x = x0;
    for (int32_t left = count; left > 0; --left) {
      if (is_inside && x >= 0 && x < dims->input_w) {
        functions->copy(tap, from + (x >> piece->shift_w) * channels, channels);
      } else {
        functions->fill(tap, (int8_t)params->input_zero_point, channels);
      }
      x += params->dilation_w;
      tap += dims->kernel_h * dims->input_c;
    }
    y += params->dilation_h;
    to += dims->input_c;
  }
}

PL_INLINE pl_status pl_convolve_pieces(const pl_context *ctx, const pl_conv2d_pieces_params *params,
                                       const pl_conv2d_pieces_dims *dims,
                                       const pl_conv2d_pieces_data *data, const void *layer,
                                       const pl_piece_functions *functions) {
  const int32_t column = dims->kernel_h * dims->input_c;
  const int32_t step = dims->gathered > 1 ? params->stride_w / params->dilation_w : 0;
  const int32_t most = (dims->gathered - 1) * step + dims->kernel_w;
  if (ctx->scratch_size < (uint32_t)(most * column)) return PL_ERROR_SCRATCH_SIZE;
  const int32_t start = dims->row * params->stride_h - params->pad_top;
  const int32_t top = start > 0 ? start : 0;
  int8_t *output = data->output;
  for (int32_t oy = 0; oy < dims->output_h; ++oy) {
    const int32_t y = start + oy * params->stride_h;
    for (int32_t ox = 0; ox < dims->output_w; ox += dims->gathered) {
      const int32_t left = dims->output_w - ox;
      const int32_t windows = left < dims->gathered ? left : dims->gathered;
      int8_t *to = ctx->scratch;
      for (int32_t i = 0; i < dims->pieces; ++i) {
        const pl_conv2d_piece *const piece = &data->pieces[i];
        pl_copy_columns_of_piece(params, dims, piece, functions, top >> piece->shift_h, y,
                                 ox * params->stride_w - params->pad_left,
                                 (windows - 1) * step + dims->kernel_w, to);
        to += piece->channels;
      }
      functions->multiply(layer, windows, ctx->scratch, step * column, output, dims->output_c);
      output += windows * dims->output_c;
    }
  }
  return PL_OK;
}

#endif  // KERNELS_CONV2D_PIECES_WINDOWS_OF_PIECES_H_
