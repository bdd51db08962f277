// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_taps_s8.h"
#include "kernels/linear/linear_taps.h"

// Some rows of all channels. A row alone stands for two.
static void multiply_band(const pl_gemm_taps *layer, pl_taps_call *call, int32_t rows,
                          int32_t depth, const int8_t *x, int8_t *y, uint32_t *scratch) {
  for (int32_t c = 0; c < layer->channels;) {
    const int32_t count = pl_expand_weights_s8(layer, c, scratch + layer->depth);
    const int8_t *row = x;
    call->y = y + c;
    for (int32_t left = rows; left > 0; left -= 2) {
      const int32_t second = left > 1;
      pl_expand_rows_s8(row, row + second * depth, depth, scratch);
      call->y_end = call->y + count;
      call->y_step = second * layer->channels;
      layer->multiply(call);
      row += 2 * depth;
      call->y += 2 * layer->channels;
    }
    c += count;
  }
}

// A function of its own: an image with both kernels below links it once.
static __attribute__((noinline)) pl_status multiply(
    const pl_context *ctx, const pl_linear_taps_params *params, const pl_linear_taps_dims *dims,
    const pl_linear_taps_data *data, int32_t stage_words, pl_multiply_taps *function) {
  const pl_gemm_taps layer = {
      .weight = data->weight,
      .stage = data->stage,
      .depth = (dims->input_channels + 3) & ~3,
      .channels = dims->output_channels,
      .block = dims->expanded,
      .stage_words = stage_words,
      .multiply = function,
  };
  const int32_t scratch = pl_taps_rows_bytes(layer.depth) + pl_taps_block_bytes(&layer);
  if (ctx->scratch_size < (uint32_t)scratch) return PL_ERROR_SCRATCH_SIZE;
  uint32_t *const x = ctx->scratch;
  pl_taps_call call = {
      .x = x,
      .x_end = x + layer.depth,
      .weight = x + layer.depth,
      .low_xor_top = params->activation_min ^ params->activation_max,
      .top = params->activation_max,
  };
  const int8_t *input = data->input;
  int8_t *output = data->output;
  for (int32_t rows = dims->rows; rows > 0; rows -= dims->band) {
    const int32_t band = rows < dims->band ? rows : dims->band;
    multiply_band(&layer, &call, band, dims->input_channels, input, output, x);
    input += band * dims->input_channels;
    output += band * dims->output_channels;
  }
  return PL_OK;
}

pl_status pl_linear_taps_s8(const pl_context *ctx, const pl_linear_taps_params *params,
                            const pl_linear_taps_dims *dims, const pl_linear_taps_data *data) {
  return multiply(ctx, params, dims, data, PL_TAPS_STAGE, pl_multiply_taps_s8);
}

pl_status pl_linear_signed_taps_s8(const pl_context *ctx, const pl_linear_taps_params *params,
                                   const pl_linear_taps_dims *dims,
                                   const pl_linear_taps_data *data) {
  return multiply(ctx, params, dims, data, PL_TAPS_SIGNED_STAGE, pl_multiply_signed_taps_s8);
}
