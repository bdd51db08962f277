# SPDX-License-Identifier: Apache-2.0
"""Weights, biases and factors of convolutions and matrix products."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import INT32_MAX, INT32_MIN
from aot.dialect.quantization import INT16, Quantization
from aot.importers.tflite.arithmetic import sums_multiplier
from aot.importers.tflite.call import OperatorCall, Unsupported, named


def weight_of(call: OperatorCall, index: int, rank: int, type: str = "INT8") -> torch.Tensor:
    """Return constant weights with symmetric quantization."""
    tensor = call.tensor(index)
    if tensor.type != type or len(tensor.shape) != rank:
        raise Unsupported(
            f"its weights, {named(tensor)}, are {tensor.type}{list(tensor.shape)}; {type} with "
            f"{rank} dimensions is needed"
        )
    if any(tensor.zero_points):
        raise Unsupported(f"its weights, {named(tensor)}, must have the zero point 0")
    return call.data(index)


def per_channel(call: OperatorCall, index: int, channels: int, axis: int) -> list[float]:
    """Return the scale of each output channel of weights."""
    tensor = call.tensor(index)
    count = len(tensor.scales)
    if count not in (1, channels) or (count > 1 and tensor.axis != axis):
        raise Unsupported(
            f"its weights, {named(tensor)}, have {count} scales along dimension {tensor.axis} for "
            f"{channels} channels along {axis}"
        )
    return list(tensor.scales) * (channels if count == 1 else 1)


def has_narrow_bias(call: OperatorCall, index: int, of: Quantization) -> bool:
    """Return True if an int16 layer has 32-bit biases.

    TFLite then computes with 32-bit sums and 31-bit multipliers; the dialect always uses 64 and 16.
    """
    return of.type is INT16 and call.has(index) and call.tensor(index).type == "INT32"


def bias_of(call: OperatorCall, index: int, channels: int, of: Quantization) -> torch.Tensor:
    """Return the bias, int32 [channels]; zeros if there is none.

    Args:
      call: of the layer.
      index: of the bias among its inputs.
      channels: of the layer's result.
      of: the layer's input; if it is int16, the bias is int64 or int32.
    """
    if not call.has(index):
        return torch.zeros(channels, dtype=torch.int32)
    tensor = call.tensor(index)
    wanted = "INT64" if of.type is INT16 else "INT32"
    if tensor.type not in (wanted, "INT32") or tensor.shape != (channels,):
        raise Unsupported(
            f"its bias, {named(tensor)}, is {tensor.type}{list(tensor.shape)}; "
            f"{wanted}[{channels}] is needed"
        )
    bias = call.data(index)
    if not bool(((bias >= INT32_MIN) & (bias <= INT32_MAX)).all()):
        raise Unsupported(f"its bias, {named(tensor)}, has values beyond 32 bits")
    return bias.to(torch.int32)


def factors(reals: Sequence[float], dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return multiplier and shift, int32, for each channel."""
    pairs = [sums_multiplier(real, dtype) if real else (0, 0) for real in reals]
    multiplier, shift = zip(*pairs, strict=True)
    return torch.tensor(multiplier, dtype=torch.int32), torch.tensor(shift, dtype=torch.int32)
