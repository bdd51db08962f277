// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/quantize/quantize.h"
#include "kernels/quantize/rint.h"

// Integer comparisons of the bits are cheap with and without a floating point unit.
static inline int8_t quantize(float input, float inverse_scale, int32_t zero_point) {
  const uint32_t kBeyondInt8 = 0x44000000u;  // 512.0f
  const float scaled = input * inverse_scale;
  const uint32_t bits = pl_float_bits(scaled);
  const uint32_t magnitude = bits & ~PL_FLOAT_SIGN;
  if (magnitude < kBeyondInt8) {
    return (int8_t)pl_clamp(pl_rint(scaled) + zero_point, INT8_MIN, INT8_MAX);
  }
  if (magnitude > PL_FLOAT_INFINITY) return (int8_t)zero_point;
  return bits == magnitude ? INT8_MAX : INT8_MIN;
}

pl_status pl_quantize_f32_s8(const pl_context *ctx, const pl_quantize_params *params,
                             const pl_quantize_dims *dims, const pl_quantize_data *data) {
  (void)ctx;
  const float inverse_scale = params->inverse_scale;
  const int32_t zero_point = params->zero_point;
  const float *input = data->input;
  int8_t *output = data->output;
  for (int32_t left = dims->size; left > 0; --left) {
    *output++ = quantize(*input++, inverse_scale, zero_point);
  }
  return PL_OK;
}
