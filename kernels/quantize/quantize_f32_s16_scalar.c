// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/quantize/quantize_s16.h"
#include "kernels/quantize/rint.h"

// Integer comparisons of the bits are cheap with and without a floating point unit.
static inline int16_t quantize(float input, float inverse_scale) {
  const uint32_t kBeyondInt16 = 0x48000000u;  // 2^17
  const float scaled = input * inverse_scale;
  const uint32_t bits = pl_float_bits(scaled);
  const uint32_t magnitude = bits & ~PL_FLOAT_SIGN;
  if (magnitude < kBeyondInt16) return (int16_t)pl_clamp(pl_rint(scaled), INT16_MIN, INT16_MAX);
  if (magnitude > PL_FLOAT_INFINITY) return 0;
  return bits == magnitude ? INT16_MAX : INT16_MIN;
}

pl_status pl_quantize_f32_s16(const pl_context *ctx, const pl_quantize_s16_params *params,
                              const pl_quantize_s16_dims *dims, const pl_quantize_s16_data *data) {
  (void)ctx;
  const float inverse_scale = params->inverse_scale;
  const float *input = data->input;
  int16_t *output = data->output;
  for (int32_t left = dims->size; left > 0; --left) *output++ = quantize(*input++, inverse_scale);
  return PL_OK;
}
