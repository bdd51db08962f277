# SPDX-License-Identifier: Apache-2.0
"""Random graphs of many ops: shapes, quantizations, options, readers, and the numbers of inputs,
outputs and variables. All drawn ops have TFLite Micro's exact bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aot.importers.tflite.testing.build import RESOURCE, File, Quantized
from aot.importers.tflite.testing.random_values import Random, quantized, some

_MOST_ELEMENTS = 3000
_MOST_RANK = 5
_MOST_SCALE = 1e3


@dataclass(frozen=True)
class DrawnValue:
    """A tensor of the file."""

    index: int
    shape: tuple[int, ...]
    of: Quantized


class Drawing:
    """A file during its random construction.

    Attributes:
      random: the random source.
      dtype: of all values.
      file: the file.
      values: values available to readers.
      read: indices of values with a reader.
    """

    def __init__(self, random: Random, dtype: Any) -> None:
        self.random, self.dtype = random, dtype
        self.file = File(dtype)
        self.values: list[DrawnValue] = []
        self.read: set[int] = set()
        self.variables = 0

    def one_in(self, count: int) -> bool:
        return bool(self.random.integers(count) == 0)

    def size(self, low: int, high: int) -> int:
        """Return a number of low to high."""
        return int(self.random.integers(low, high + 1))

    def shape(self) -> tuple[int, ...]:
        """Return a shape, mostly of an image."""
        rank = some(self.random, (1, 2, 3, 4, 4, 4, 4, 5))
        if rank == 4:
            return (1 if not self.one_in(4) else 2, *(self.size(1, 9) for _ in range(3)))
        return tuple(self.size(1, 6) for _ in range(rank))

    def of(self) -> Quantized:
        return quantized(self.random, self.dtype)

    def near(self, scale: float) -> Quantized:
        """Return a quantization for results of about this scale."""
        return float(np.float32(scale * self.random.uniform(0.6, 2.5))), self.of()[1]

    def input(self) -> None:
        shape, of = self.shape(), self.of()
        self.values.append(DrawnValue(self.file.input(shape, of), shape, of))

    def any(self, accepts: Callable[[DrawnValue], bool] = lambda _: True) -> DrawnValue | None:
        """Return one of the values, with a preference for late ones. It then has a reader."""
        fitting = [value for value in self.values if accepts(value)]
        if not fitting:
            return None
        late = fitting[-3:] if not self.one_in(4) else fitting
        chosen = some(self.random, late)
        assert isinstance(chosen, DrawnValue)
        self.read.add(chosen.index)
        return chosen

    def image(self) -> DrawnValue | None:
        return self.any(lambda value: len(value.shape) == 4)

    def constant(self, shape: Sequence[int], of: Quantized) -> DrawnValue:
        info = np.iinfo(self.dtype)
        data = self.random.integers(info.min, info.max, tuple(shape), np.int64, endpoint=True)
        return DrawnValue(self.file.tensor(shape, self.dtype, of, data), tuple(shape), of)

    def result(self, shape: Sequence[int], of: Quantized) -> int:
        """Return a new result tensor; it is available to readers from now on."""
        index = self.file.tensor(shape, self.dtype, of)
        self.values.append(DrawnValue(index, tuple(shape), of))
        return index

    def op(
        self,
        name: str,
        inputs: Sequence[int],
        shape: Sequence[int],
        of: Quantized,
        options: str = "",
        **fields: Any,
    ) -> bool:
        """Add an op with one result, if its size and its scale are within the limits."""
        if not fits(shape) or not 0.0 < of[0] < _MOST_SCALE:
            return False
        self.file.op(name, inputs, [self.result(shape, of)], options, 2, **fields)
        return True

    def delay(self) -> bool:
        """Add a value from the previous run."""
        x = self.any()
        if x is None:
            return False
        file, name = self.file, f"v{self.variables}".encode()
        self.variables += 1
        handle = file.tensor((), RESOURCE)
        fields: dict[str, Any] = {"container": b"", "sharedName": name}
        file.op("VAR_HANDLE", [], [handle], "VarHandleOptions", **fields)
        file.op("READ_VARIABLE", [handle], [self.result(x.shape, x.of)], "ReadVariableOptions")
        file.op("ASSIGN_VARIABLE", [handle, x.index], [], "AssignVariableOptions")
        return True


def fits(shape: Sequence[int]) -> bool:
    return min((*shape, 1)) > 0 and math.prod(shape) <= _MOST_ELEMENTS and len(shape) <= _MOST_RANK


def draw(random: Random, dtype: Any, count: int) -> bytes:
    """Return a file of so many ops, or somewhat fewer."""
    from aot.importers.tflite.testing.drawn import OF_INT8, OPS  # uses the definitions above

    drawing = Drawing(random, dtype)
    for _ in range(1 + drawing.one_in(3)):
        drawing.input()
    ops = [op for op in OPS if dtype == np.int8 or op not in OF_INT8]
    for _ in range(count):
        if drawing.one_in(12):
            drawing.delay()
        elif drawing.one_in(15):
            drawing.input()
        else:
            some(random, ops)(drawing)
    unread = [v.index for v in drawing.values if v.index not in drawing.read]
    inner = [v.index for v in drawing.values if drawing.one_in(10)]
    outputs = sorted({*unread, *inner})
    drawing.file.output(*(outputs or [drawing.values[-1].index]))
    return drawing.file.bytes()
