// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/sqrt_f32.h"
#include "kernels/unary_f32/elementwise.h"

static float reciprocal_root(float x) { return 1.0f / pl_sqrt_f32(x); }

static float reciprocal(float x) { return 1.0f / x; }

PL_DEFINE_UNARY_F32(pl_sqrt_values_f32, pl_sqrt_f32)
PL_DEFINE_UNARY_F32(pl_rsqrt_f32, reciprocal_root)
PL_DEFINE_UNARY_F32(pl_reciprocal_f32, reciprocal)
