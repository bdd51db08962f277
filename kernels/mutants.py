# SPDX-License-Identifier: Apache-2.0
"""Bugs that the cases must find: one line of a kernel, changed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A change of one place of a source, and the op whose cases must fail with it.

    `file` is below kernels/; `before` occurs in it once.
    """

    op: str
    file: str
    before: str
    after: str


_REQUANTIZE = "common/requantize.h"
_REQUANTIZE_C = "common/requantize.c"
_GEMM = "common/gemm_s8_scalar.c"
_POOL = "common/pool_s8.h"
_POOL_C = "common/pool_s8_scalar.c"
_ADAPTIVE = "common/adaptive_pool_s8.h"
_WINDOW = "common/window_s8.h"
_CONV = "conv2d/conv2d_s8.c"
_LOG_SOFTMAX = "log_softmax/log_softmax_s8_scalar.c"
_COPY = "common/copy_scalar.c"
_QUANTIZE = "quantize/quantize_f32_s8_scalar.c"
_DEQUANTIZE = "dequantize/dequantize_s8_f32_scalar.c"
_DEPTHWISE = "depthwise_conv2d/depthwise_conv2d_s8_scalar.c"

MUTANTS = [
    # Requantization.
    Mutant("linear", _REQUANTIZE, "(h + (h >> 31))", "h"),
    Mutant("linear", _REQUANTIZE, "+ (1 << 30)", "+ 0"),
    Mutant("add", _REQUANTIZE, "shift == 0 ? high", "shift == 1 ? high"),
    Mutant("mul", _REQUANTIZE, "x > maximum ? maximum : x", "x"),
    Mutant("add", _REQUANTIZE,
           "pl_clamp(x, minimum - zero_point, maximum - zero_point) + zero_point",
           "pl_clamp(x + zero_point, minimum, maximum)"),
    Mutant("mul", _REQUANTIZE,
           "pl_clamp(x, minimum - zero_point, maximum - zero_point) + zero_point",
           "pl_clamp(x + zero_point, minimum, maximum)"),
    Mutant("mean", _REQUANTIZE,
           "pl_clamp(x, minimum - zero_point, maximum - zero_point) + zero_point",
           "pl_clamp(x + zero_point, minimum, maximum)"),
    Mutant("linear", _REQUANTIZE_C, "x > limit        ? INT32_MAX", "x > limit        ? limit"),
    Mutant("linear", _REQUANTIZE_C, "-(1 << 30), 1 << 30", "INT32_MIN, INT32_MAX"),
    Mutant("conv2d", _REQUANTIZE_C, "maximum - minimum == INT8_MAX - INT8_MIN", "maximum == 127"),
    # Matrix products.
    Mutant("linear", _GEMM, "s->c3 += x * weight[3]", "s->c3 += x * weight[2]"),
    Mutant("linear", _GEMM, "{ return a < b ? a : b; }", "{ return b; }"),
    Mutant("linear", _GEMM, "store(b, acc1 + i)", "store(a, acc1 + i)"),
    Mutant("linear", _GEMM, "y += 2 * y_stride", "y += y_stride"),
    Mutant("conv2d", _GEMM, "const int8_t *x1 = row1", "const int8_t *x1 = row0"),
    # Convolution.
    Mutant("conv2d", _WINDOW, "if (y < 0 || y >=", "if (y >="),
    Mutant("conv2d", _WINDOW, "inside = shape->input_w - x0", "inside = shape->input_w"),
    Mutant("conv2d", _WINDOW, "x0 + kx * shape->dilation_w", "x0 + kx"),
    Mutant("conv2d", _WINDOW, "y += shape->dilation_h", "y += 1"),
    Mutant("conv2d", _CONV, "ox * params->stride_w", "ox * params->stride_h"),
    Mutant("conv2d", _CONV, "layer.bias += dims->packed_c", "layer.bias += layer.channels"),
    Mutant("conv2d", _CONV, "image += image_bytes", "image += result_bytes"),
    Mutant("conv2d", "conv2d/conv2d_runs_s8.c", "params->stride_h * row_bytes", "row_bytes"),
    Mutant("depthwise_conv2d", _DEPTHWISE, "sum2 += x[2] * w[2]", "sum2 += x[2] * w[1]"),
    Mutant("depthwise_conv2d", _DEPTHWISE, "y > last_y ||", "y > last_y + 1 ||"),
    Mutant("depthwise_conv2d", _DEPTHWISE, "(int8_t)params->input_zero_point", "0"),
    Mutant("depthwise_conv2d", _DEPTHWISE, "params->dilation_h * row_bytes", "row_bytes"),
    Mutant("depthwise_conv2d", _DEPTHWISE, "sum += *x * *w", "sum = *x * *w"),
    # Elementwise.
    Mutant("add", "add/add_s8_scalar.c", "(1 << left_shift)", "(1 << 20)"),
    Mutant("add", "add/add_s8_scalar.c", "scale(a[i], &p.a, p.left_shift) + scaled_b", "scaled_b"),
    Mutant("mul", "mul/mul_s8_scalar.c", "b - p.b_zero_point", "b"),
    Mutant("add", "common/broadcast.c", "row->index[d] = 0", "row->index[d] = 1"),
    Mutant("mul", "common/broadcast.c", "row->b -= dims->b_stride", "row->b -= dims->a_stride"),
    Mutant("lut", "lut/lut_s8_scalar.c", "data->table + 128", "data->table + 127"),
    Mutant("lut", "lut/lut_s8_scalar.c", "output[3] = middle[input[3]]", "output[3] = input[3]"),
    # Pooling and reductions.
    Mutant("max_pool2d", _POOL, "for (; taps.begin < 0;", "for (; taps.begin < -1;"),
    Mutant("max_pool2d", _POOL, "at < size && ", ""),
    Mutant("max_pool2d", _POOL_C, "max1 = larger(max1, x[1])", "max1 = x[1]"),
    Mutant("avg_pool2d", _POOL_C, "sum < 0 ? sum - half : sum + half", "sum + half"),
    Mutant("avg_pool2d", "avg_pool2d/avg_pool2d_s8.c", "height * width : taps", "taps : taps"),
    Mutant("avg_pool2d", "avg_pool2d/avg_pool2d_s8.c", "(divisor - taps)", "0"),
    Mutant("adaptive_avg_pool2d", _ADAPTIVE, "+ output - 1) / output", ") / output"),
    Mutant("adaptive_max_pool2d", _ADAPTIVE, "i * input / output;", "input / output * i;"),
    Mutant("mean", "mean/mean_s8_scalar.c", "sum1 = params->offset", "sum1 = 0"),
    Mutant("mean", "mean/mean_s8_scalar.c", "j * dims->kept_stride[1]", "j * dims->kept_stride[0]"),
    Mutant("mean", "mean/mean_s8_scalar.c", "x += dims->kept_stride[2]) *", "++x) *"),
    # Softmax.
    Mutant("softmax", "softmax/softmax_s8_scalar.c", "+ half) / sum", ") / sum"),
    Mutant("softmax", "softmax/softmax_s8_scalar.c", "share > 255 ? 255 :", "share > 256 ? 255 :"),
    Mutant("softmax", "common/exponentials.h", "*x > maximum ? *x", "*x < maximum ? *x"),
    Mutant("log_softmax", _LOG_SOFTMAX, "index == 127", "index == 128"),
    Mutant("log_softmax", _LOG_SOFTMAX, "fraction >> 8)", "fraction >> 9)"),
    # Movers.
    Mutant("strided_copy", _COPY, "for (; bytes > 0; --bytes) *to++ = *from++", ""),
    Mutant("cat", _COPY, "from += 16", "from += 12"),
    Mutant("pad", _COPY, "(uint8_t)value * 0x01010101u", "(uint8_t)value"),
    Mutant("strided_copy", "strided_copy/strided_row.c", "row->index[d] = 0", "row->index[d] = 1"),
    Mutant("strided_copy", "strided_copy/strided_copy_x8_scalar.c", "to += 2 * to_step;\n    to[0]",
           "to += to_step;\n    to[0]"),
    Mutant("strided_copy", "strided_copy/strided_copy_x32_scalar.c", "4 * size", "size"),
    Mutant("cat", "cat/cat_x8.c", "start += bytes", "start += dims->output_step"),
    Mutant("pad", "pad/pad_s8.c", "dims->output_size", "dims->output_size - 1"),
    # Between float32 and int8.
    Mutant("quantize", _QUANTIZE, "return (int8_t)zero_point", "return 0"),
    Mutant("quantize", _QUANTIZE, "12582912.0f", "12582913.0f"),
    Mutant("dequantize", _DEQUANTIZE, "*input++ - zero_point", "*input++"),
    # Float32.
    Mutant("binary_f32", "binary_f32/minimum_f32_scalar.c", "|| a != a", ""),
    Mutant("binary_f32", "binary_f32/elementwise.h", "b += b_step", "b += a_step"),
    Mutant("reduce_f32", "reduce_f32/amax_f32_scalar.c", "|| result != result", ""),
    Mutant("reduce_f32", "reduce_f32/fold.h", "i * dims->reduced_stride[0]", "0"),
    Mutant("pow", "pow/pow_f32_scalar.c", "square >> 63", "square >> 62"),
    Mutant("pow", "pow/pow_whole_f32_scalar.c", "int32_t factor = 1", "int32_t factor = 0"),
    Mutant("bmm_f32", "bmm_f32/bmm_f32_scalar.c", "a += dims->depth", "a += dims->columns"),
    Mutant("layer_norm_f32", "common/moments_f32.h", "size + epsilon", "size"),
    Mutant("layer_norm_f32", "layer_norm_f32/layer_norm_f32_scalar.c", "data->bias[i] : 0.0f",
           "data->bias[0] : 0.0f"),
    Mutant("group_norm_f32", "group_norm_f32/group_norm_f32_scalar.c", "row % dims->groups", "row"),
]  # fmt: skip
