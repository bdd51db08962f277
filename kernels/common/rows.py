# SPDX-License-Identifier: Apache-2.0
"""How a call computes one row of its output, for plans that go through layers row by row.

A tensor is rows of its first dimension of more than one element, if it has two such dimensions.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kernels.common.kernel import Array, Field, KernelCall, Value
from kernels.common.shapes import BROADCAST_DIMS


@dataclass(frozen=True)
class Taps:
    """Which rows of an input a row of the output is made of, where each of the input's `rows`
    counts 1 << shift times: of all that there are then, `reach` from row * stride - pad on, which
    is before the last one's end for every row.
    """

    rows: int
    stride: int = 1
    pad: int = 0
    reach: int = 1
    shift: int = 0

    def first(self, row: int) -> int:
        return max(row * self.stride - self.pad, 0) >> self.shift

    def end(self, row: int) -> int:
        end = row * self.stride - self.pad + self.reach
        return (max(1, min(end, self.rows << self.shift)) - 1 >> self.shift) + 1


@dataclass(frozen=True)
class ByRows:
    """A call of the same function for one row.

    Attributes:
      rows: of the output.
      inputs: by field of data, those that are read by rows; all others are as in the call. Of an
        array of structs a field is "inputs[0].address".
      dims: fields that are the same for all rows, and others than the call's.
      pad, height: the fields of params and dims that say how much padding is before the rows of the
        one input that are given, and how many these are; "" where there are none.
      scratch: in bytes, where it is not the call's.
      folded: where all rows together make one result: another call, whose scratch memory stays as
        it is from row to row, and which writes the result when it has the last row. `rows` are then
        those of the input, `dims` and `row` fields of this call.
      row: the field of dims that says which row it is, "" if none does.
    """

    rows: int
    inputs: Mapping[str, Taps]
    dims: Mapping[str, Field]
    pad: str = ""
    height: str = ""
    scratch: int | None = None
    folded: KernelCall | None = None
    row: str = ""


def operand(data: Mapping[str, Field], field: str) -> Field:
    """What a field of data is, as ByRows.inputs names it."""
    name, _, rest = field.partition("[")
    if not rest:
        return data[name]
    index, _, member = rest.partition("].")
    array = data[name]
    assert isinstance(array, Array)
    item = array.items[int(index)]
    assert isinstance(item, Mapping)
    return item[member]


def row_count(shape: tuple[int, ...]) -> int:
    """Rows of a tensor of this shape."""
    dims = [size for size in shape if size > 1]
    return dims[0] if len(dims) > 1 else 1


def product_by_rows(
    source: Value, output: Value, rows: int, scratch: Callable[[int], int] = lambda _: 0
) -> ByRows | None:
    """Of a matrix product of so many rows, which are the pixels of both tensors; `scratch` is that
    of a product of so many.
    """
    count = row_count(output.shape)
    if count == 1 or row_count(source.shape) != count or rows % count:
        return None
    few = rows // count
    return ByRows(count, {"input": Taps(count)}, {"rows": few}, scratch=scratch(few))


def elements_by_rows(source: Value, output: Value) -> ByRows | None:
    """Of a function of each element, with a field `size`."""
    count = row_count(output.shape)
    if count == 1 or row_count(source.shape) != count:
        return None
    return ByRows(count, {"input": Taps(count)}, {"size": output.size // count})


def pair_by_rows(a: Value, b: Value, output: Value) -> ByRows | None:
    """Of an elementwise op of two tensors of the output's shape, with the fields of
    pl_broadcast_dims.
    """
    count = row_count(output.shape)
    if count == 1 or not a.shape == b.shape == output.shape:
        return None
    activations = {"a": a, "b": b}
    if any(value.constant is not None for value in activations.values()):
        return None
    size = (1,) * (BROADCAST_DIMS - 1) + (math.prod(output.shape) // count,)
    return ByRows(count, {name: Taps(count) for name in activations}, {"size": size})
