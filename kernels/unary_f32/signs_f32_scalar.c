// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/float_bits.h"
#include "kernels/unary_f32/elementwise.h"

static float magnitude(float x) { return pl_float_of_bits(pl_float_bits(x) & ~PL_FLOAT_SIGN); }

static float negated(float x) { return -x; }

static float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; }

PL_DEFINE_UNARY_F32(pl_abs_f32, magnitude)
PL_DEFINE_UNARY_F32(pl_neg_f32, negated)
PL_DEFINE_UNARY_F32(pl_sign_f32, sign)
