# SPDX-License-Identifier: Apache-2.0
"""Quantized constants of a file, found again in an exported graph by their real values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from aot.dialect.quantization import INT8, INT16, Quantization, QuantizedType


@dataclass(frozen=True, eq=False)
class QuantizedConstant:
    """Integers of a file with their quantization.

    Attributes:
      values: int8, int16 or int32; uint8 values are 128 less.
      scale: float32, one element, or one for each index of the dimension `axis`.
      zero_point: int64, likewise; of uint8 values 128 less.
      axis: of the scales.
    """

    values: torch.Tensor
    scale: torch.Tensor
    zero_point: torch.Tensor
    axis: int

    def real(self, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Return the values as real numbers."""
        shape = [-1 if d == self.axis else 1 for d in range(self.values.dim())]
        several = self.scale.numel() > 1
        scale, zero_point = (
            x.reshape(shape) if several else x.reshape(()) for x in (self.scale, self.zero_point)
        )
        steps = self.values.to(torch.int64) - zero_point
        return steps.to(dtype) * scale.to(dtype)

    def scales(self) -> torch.Tensor:
        """Return the scale of each value."""
        shape = [-1 if d == self.axis else 1 for d in range(self.values.dim())]
        scale = self.scale.reshape(shape if self.scale.numel() > 1 else [1] * self.values.dim())
        return scale.expand(self.values.shape)

    def quantization(self) -> Quantization | None:
        """Return the quantization as an activation; None if it has several scales."""
        kinds: dict[torch.dtype, QuantizedType] = {torch.int8: INT8, torch.int16: INT16}
        if self.scale.numel() > 1 or self.values.dtype not in kinds:
            return None
        return Quantization(float(self.scale), int(self.zero_point), kinds[self.values.dtype])


class QuantizedConstants:
    """Lookup of the constants of a file."""

    def __init__(self, constants: Iterable[QuantizedConstant]) -> None:
        self._found: dict[tuple[int, bytes], tuple[QuantizedConstant, bool]] = {}
        for constant in constants:
            real = constant.real()
            self._found.setdefault(_key(real), (constant, False))
            if real.dim() == 2:
                self._found.setdefault(_key(real.t()), (constant, True))

    def find(self, real: torch.Tensor) -> tuple[QuantizedConstant, bool] | None:
        """Return the constant with these values in this order.

        The second value is True if it is a transposed matrix.
        """
        return self._found.get(_key(real))

    def weight(self, real: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, bool] | None:
        """Return the integers and scales of a weight in its own shape.

        The third value is True if all zero points are 0.
        """
        found = self.find(real)
        if found is None:
            return None
        constant, turned = found
        values, scales = constant.values, constant.scales()
        if turned:
            values, scales = values.t(), scales.t()
        is_symmetric = not bool(constant.zero_point.any())
        return values.reshape(real.shape), scales.reshape(real.shape), is_symmetric


def _key(values: torch.Tensor) -> tuple[int, bytes]:
    return values.numel(), values.detach().to(torch.float32).contiguous().numpy().tobytes()
