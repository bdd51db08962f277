# SPDX-License-Identifier: Apache-2.0
"""TFLite's pointwise int8 functions, each as a table of its integer kernel's results.

A table is int8 [256], for the quantizations of value and result. ValueError if the kernel does not
support them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from aot.dialect.arithmetic import requantize
from aot.dialect.quantization import INT8, Quantization
from aot.importers.tflite import fixed_point
from aot.importers.tflite.arithmetic import float32, nearest, quantize_multiplier, requantized

_INPUT_BITS = 4

LOGISTIC_OUTPUT = Quantization(1.0 / 256.0, -128)
TANH_OUTPUT = Quantization(1.0 / 128.0, 0)


def _differences(of: Quantization, out: Quantization) -> torch.Tensor:
    """Return every integer minus the zero point, int64."""
    if of.type is not INT8 or out.type is not INT8:
        raise ValueError("int16 is not supported here; int8 is")
    return of.every_value().to(torch.int64) - of.zero_point


def _saturating(
    of: Quantization,
    out: Quantization,
    wanted: Quantization,
    function: Callable[[Any, int], Any],
    bits: int,
) -> torch.Tensor:
    """Return a function of fixed-point numbers with _INPUT_BITS integer bits."""
    if out != wanted:
        raise ValueError(f"a result of {out}, not {wanted}")
    x = _differences(of, out)
    factor = of.scale * 2.0 ** (31 - _INPUT_BITS)
    multiplier, shift = quantize_multiplier(factor)
    # Inputs from this magnitude up exceed the fixed-point range. For large scales even 0 does; it
    # then counts as the smallest.
    radius = fixed_point.input_radius(_INPUT_BITS, max(shift, math.frexp(factor)[1]))
    fixed = requantize(x.clamp(-radius, radius), multiplier, shift).numpy()
    values = fixed_point.shift_right(function(fixed, _INPUT_BITS), 31 - bits) + out.zero_point
    values = np.where(x.numpy() <= -radius, -128, np.where(x.numpy() >= radius, 127, values))
    return torch.from_numpy(np.clip(values, -128, 127).astype(np.int8))


def logistic(of: Quantization, out: Quantization) -> torch.Tensor:
    return _saturating(of, out, LOGISTIC_OUTPUT, fixed_point.logistic, 8)


def tanh(of: Quantization, out: Quantization) -> torch.Tensor:
    return _saturating(of, out, TANH_OUTPUT, fixed_point.tanh, 7)


def quantize(of: Quantization, out: Quantization) -> torch.Tensor:
    return requantized(_differences(of, out), quantize_multiplier(of.scale / out.scale), out)


def leaky_relu(of: Quantization, out: Quantization, alpha: float) -> torch.Tensor:
    if not math.isfinite(alpha):
        raise ValueError(f"alpha {alpha}")
    x = _differences(of, out)
    scaled = of.scale * alpha / out.scale
    multiplier, shift = (0, 0) if scaled == 0.0 else quantize_multiplier(abs(scaled))
    negative = int(math.copysign(multiplier, scaled)), shift
    positive = quantize_multiplier(of.scale / out.scale)
    return torch.where(x >= 0, requantized(x, positive, out), requantized(x, negative, out))


def relu(of: Quantization, out: Quantization) -> torch.Tensor:
    factor = quantize_multiplier(of.scale / out.scale)
    return requantized(_differences(of, out), factor, out).clamp(min=out.zero_point)


def relu6(of: Quantization, out: Quantization) -> torch.Tensor:
    """Return RELU6; TFLite clamps the integers, and assumes equal quantizations."""
    if of != out:
        raise ValueError("input and result must have one quantization")
    _differences(of, out)
    return of.every_value().clamp(of.zero_point, min(of.type.quant_max, nearest(6.0, of)))


def hard_swish(of: Quantization, out: Quantization) -> torch.Tensor:
    """Return x * relu6(x + 3) / 6 with 16 bits, like TFLite's result."""
    x = _differences(of, out)
    fine = float32(of.scale / 128.0)
    of_output, output_shift = quantize_multiplier(float32(fine / out.scale))
    of_relu, relu_shift = quantize_multiplier(float32(fine / float32(3.0 / 32768.0)))
    if output_shift > 0:
        raise ValueError(f"TFLite has no product of the scales {of.scale} and {out.scale}")
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


def _to_16_bits(multiplier: int) -> int:
    return 0x7FFF if multiplier >= 0x7FFF0000 - 2**15 else (multiplier + 2**15) >> 16


def _int16(x: torch.Tensor) -> torch.Tensor:
    return x.clamp(-(2**15), 2**15 - 1)


def _high(x: torch.Tensor, multiplier: int) -> torch.Tensor:
    """Return x * multiplier / 2^15, rounded to nearest, ties up."""
    return _int16((x * multiplier + 2**14) >> 15)


def _shifted(x: torch.Tensor, bits: int) -> torch.Tensor:
    return torch.from_numpy(fixed_point.shift_right(x.numpy(), min(bits, 31)))


Table = Callable[[Quantization, Quantization], torch.Tensor]

TABLES: Mapping[str, Table] = {
    "QUANTIZE": quantize,
    "RELU": relu,
    "RELU6": relu6,
    "LOGISTIC": logistic,
    "TANH": tanh,
    "HARD_SWISH": hard_swish,
}
"""Tables of the builtins without a parameter, by name."""
