# SPDX-License-Identifier: Apache-2.0
"""Functions of one int8 value, each a table computed by the integer formula of TFLite's kernel:
LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU, RELU, RELU6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from ethosu.vela.tflite.LeakyReluOptions import LeakyReluOptions
from torch.fx import Node

from aot.dialect.arithmetic import requantize
from aot.dialect.ops.lut import lut
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.importers.tflite import fixed_point
from aot.importers.tflite.arithmetic import (
    float32,
    nearest,
    quantize_multiplier,
    requantized,
)
from aot.importers.tflite.call import Call, Unsupported
from aot.importers.tflite.clamps import within

_INPUT_BITS = 4


def _table(call: Call, function: Callable[[torch.Tensor], torch.Tensor]) -> Node:
    """A call of pl::lut; the function is of input minus zero point, int64."""
    x = call.value(0)
    of = call.of(x)
    if INT16 in (of.type, call.quantization.type):
        raise Unsupported("int16 values; int8 ones can be")
    table = function(of.every_value().to(torch.int64) - of.zero_point)
    return call.emit(lut, x, call.constant("table", table), edge=call.edge)


def _rescaled_to_fixed_point(call: Call, x: torch.Tensor) -> tuple[torch.Tensor, int]:
    """Numbers with _INPUT_BITS integer bits, and from which magnitude on they do not fit."""
    real = call.of(call.value(0)).scale * 2.0 ** (31 - _INPUT_BITS)
    multiplier, shift = quantize_multiplier(real)
    radius = fixed_point.input_radius(_INPUT_BITS, shift)
    return requantize(x.clamp(-radius, radius), multiplier, shift), radius


def _saturating(
    call: Call, x: torch.Tensor, function: Callable[[Any, int], Any], bits: int, zero_point: int
) -> torch.Tensor:
    """A function of fixed-point numbers, to int8 with so many fraction bits."""
    fixed, radius = _rescaled_to_fixed_point(call, x)
    out = fixed_point.shift_right(function(fixed.numpy(), _INPUT_BITS), 31 - bits) + zero_point
    out = np.where(x.numpy() >= radius, 127, np.where(x.numpy() <= -radius, -128, out))
    return torch.from_numpy(np.clip(out, -128, 127).astype(np.int8))


def logistic(call: Call) -> Node:
    _expect(call, Quantization(1.0 / 256.0, -128))
    return _table(call, lambda x: _saturating(call, x, fixed_point.logistic, 8, -128))


def tanh(call: Call) -> Node:
    _expect(call, Quantization(1.0 / 128.0, 0))
    return _table(call, lambda x: _saturating(call, x, fixed_point.tanh, 7, 0))


def _expect(call: Call, wanted: Quantization) -> None:
    if call.quantization != wanted:
        raise Unsupported(f"a result of {call.quantization}, not {wanted}")


def leaky_relu(call: Call) -> Node:
    alpha = call.options(LeakyReluOptions).Alpha()
    if not math.isfinite(alpha):
        raise Unsupported(f"alpha {alpha}")
    of, out = call.of(call.value(0)), call.quantization
    # In float32, step by step, as TFLite's expression has it.
    scaled = float32(float32(of.scale * alpha) / out.scale)
    factor = quantize_multiplier(float32(of.scale / out.scale))
    negative = (0, 0) if scaled == 0.0 else quantize_multiplier(abs(scaled))
    negative = (int(math.copysign(negative[0], scaled)), negative[1])

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x >= 0, requantized(x, factor, out), requantized(x, negative, out))

    return _table(call, function)


def relu(call: Call) -> Node:
    of, out = call.of(call.value(0)), call.quantization
    factor = quantize_multiplier(float32(of.scale / out.scale))
    low = max(out.type.quant_min, out.zero_point)
    return _table(call, lambda x: requantized(x, factor, out).clamp(min=low))


def relu6(call: Call) -> Node:
    """TFLite clamps the integers, and takes it that both quantizations are one."""
    x = call.value(0)
    of = call.of(x)
    call.same_quantization(x)
    high = min(of.type.quant_max, nearest(6.0, of))
    return within(call, x, of, of.zero_point, high)


def hard_swish(call: Call) -> Node:
    """x * relu6(x + 3) / 6 with 16 bits, as TFLite computes it."""
    of, out = call.of(call.value(0)), call.quantization
    fine = float32(of.scale / 128.0)
    of_output, output_shift = quantize_multiplier(float32(fine / out.scale))
    of_relu, relu_shift = quantize_multiplier(float32(fine / float32(3.0 / 32768.0)))
    if output_shift > 0:
        raise Unsupported(f"scales {of.scale} and {out.scale}, where TFLite has none either")

    def function(x: torch.Tensor) -> torch.Tensor:
        hires = x << 7
        preshift = _high(hires, _to_16_bits(of_output))
        value = hires
        if relu_shift > 0:
            value = _int16(value << (relu_shift - 1))
        value = _high(value, _to_16_bits(of_relu))
        if relu_shift > 0:
            value = _int16(value << 1)
        elif relu_shift < 0:
            value = _shifted(value, -relu_shift)
        gate = (value + 2**15) >> 1
        product = torch.div(gate * preshift, 2**15, rounding_mode="trunc").to(torch.int64)
        result = _shifted(product, -output_shift) + out.zero_point
        return result.clamp(-128, 127).to(torch.int8)

    if call.of(call.value(0)).type is not INT8:
        raise Unsupported("int16 values; int8 ones can be")
    return _table(call, function)


def _to_16_bits(multiplier: int) -> int:
    return 0x7FFF if multiplier >= 0x7FFF0000 - 2**15 else (multiplier + 2**15) >> 16


def _int16(x: torch.Tensor) -> torch.Tensor:
    return x.clamp(-(2**15), 2**15 - 1)


def _high(x: torch.Tensor, multiplier: int) -> torch.Tensor:
    """x * multiplier / 2^15, rounded to nearest, ties up."""
    return _int16((x * multiplier + 2**14) >> 15)


def _shifted(x: torch.Tensor, bits: int) -> torch.Tensor:
    return torch.from_numpy(fixed_point.shift_right(x.numpy(), min(bits, 31)))
