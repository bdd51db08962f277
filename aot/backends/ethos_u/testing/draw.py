# SPDX-License-Identifier: Apache-2.0
"""Random choices, and the graph made of them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.fx import Graph, GraphModule, Node

import kernels.ops  # noqa: F401, the library
from aot.dialect.arithmetic import quantize_multiplier, quantize_wide_multiplier
from aot.dialect.graph import Builder, Edge, Origin
from aot.dialect.library import OPS
from aot.dialect.quantization import INT8, Quantization, QuantizedType
from aot.dialect.verifier import verify

CHANNELS = (1, 2, 3, 8, 16, 17, 33)


class Draw:
    """Random choices and the graph made of them; `kind` is the type of its activations."""

    def __init__(self, name: str, seed: int, kind: QuantizedType = INT8) -> None:
        self.kind = kind
        self.rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
        self.module = GraphModule(torch.nn.Module(), Graph())
        self.builder = Builder(self.module, self.module.graph)

    def integer(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        return int(self.rng.integers(low, high, endpoint=True))

    def one_of(self, values: Sequence[Any]) -> Any:
        return values[self.integer(0, len(values) - 1)]

    def often(self) -> bool:
        return self.integer(0, 2) > 0

    def zero_point(self) -> int:
        if self.kind.symmetric:
            return 0
        return int(self.one_of((-128, 127, 0, self.integer(-128, 127))))

    def value(self) -> int:
        """Return a value of an activation."""
        return self.integer(self.kind.quant_min, self.kind.quant_max)

    def limits(self) -> tuple[int, int]:
        largest = self.kind.quant_max
        if self.often():
            return self.kind.quant_min, largest
        low = self.integer(self.kind.quant_min, largest - 1)
        return low, self.integer(low + 1, largest)

    def activations(self, shape: Sequence[int]) -> torch.Tensor:
        """Return constant activations."""
        kind = self.kind
        values = self.rng.integers(kind.quant_min, kind.quant_max, shape, endpoint=True)
        return torch.from_numpy(values).to(kind.dtype)

    def weights(self, shape: Sequence[int]) -> torch.Tensor:
        values = self.rng.integers(-127, 127, shape, np.int8, endpoint=True)
        if not self.often():
            values = self.rng.choice(np.array([-127, 0, 127], np.int8), shape)
        return torch.from_numpy(values)

    def shape(self, rank: int) -> tuple[int, ...]:
        return tuple(self.integer(1, 9) for _ in range(rank))

    def image(self) -> tuple[int, int, int, int]:
        batch = 1 if self.often() else 2
        return batch, self.integer(1, 14), self.integer(1, 14), int(self.one_of(CHANNELS))

    def input(self, shape: Sequence[int], zero_point: int, layout: str = "row_major") -> Node:
        value = torch.empty(tuple(shape), dtype=self.kind.dtype, device="meta")
        edge = Edge(Quantization(1.0, zero_point, self.kind), layout)
        return self.builder.placeholder(f"x{len(self.module.graph.nodes)}", value, edge)

    def scales(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return bias, multiplier and shift for weights [O, ...].

        Results fill int8, or overflow it.
        """
        spread = weight.flatten(1).double().square().sum(1).sqrt().clamp(min=1) * 73
        bias = torch.from_numpy(self.rng.normal(0, 1, len(spread))) * spread
        factors = torch.from_numpy(self.rng.uniform(20, 200, len(spread))) / spread
        pairs = [quantize_multiplier(float(f)) for f in factors]
        multiplier, shift = (torch.tensor(v, dtype=torch.int32) for v in zip(*pairs, strict=True))
        return bias.round().to(torch.int32), multiplier, shift

    def product_scale(self, exponent: float) -> tuple[int, int]:
        """Return multiplier and shift of e^exponent for sums of products of two int8 activations.

        For int16 the factor is 256 times smaller.
        """
        factor = float(np.exp(exponent))
        if self.kind.dtype is torch.int8:
            return quantize_multiplier(factor)
        return quantize_wide_multiplier(factor / 256)

    def region(
        self, op: str, *args: Any, zero_point: int | None, layout: str = "row_major"
    ) -> GraphModule:
        is_mask = zero_point is None
        edge = Edge(None if is_mask else Quantization(1.0, zero_point or 0, self.kind), layout)
        given = [self._argument(f"c{i}", a) for i, a in enumerate(args)]
        node = self.builder.call(OPS[op], *given, edge=edge, origin=Origin((f"aten.{op}",)))
        self.module.graph.output((node,))
        self.module.recompile()
        verify(self.module, "a region for tests")
        return self.module

    def _argument(self, name: str, value: Any) -> Any:
        return self.builder.constant(name, value) if isinstance(value, torch.Tensor) else value
