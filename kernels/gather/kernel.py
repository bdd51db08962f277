# SPDX-License-Identifier: Apache-2.0
"""pl::gather on kernels/gather/gather.h, or on strided_copy's kernel if the indices are regular."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernels.common.kernel import (
    AnyArray,
    Constant,
    Field,
    Isa,
    KernelCall,
    OpCall,
    Value,
    kernel,
)
from kernels.common.rows import ByRows, Taps, row_count
from kernels.common.shapes import contiguous_strides
from kernels.common.strided import copy_cost
from kernels.common.tensor import DTYPES
from kernels.strided_copy.kernel import check_output, copy_call

# Instructions, roughly: of a row's start, of a run's, of a byte.
_ROW, _RUN_START, _BYTE = 8.0, 26.0, 0.6


@kernel("pl::gather")
def gather(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source = call.tensor("input")
    indices = _indices(call, source.shape)
    shape = tuple(len(indices[d]) if d in indices else size for d, size in enumerate(source.shape))
    check_output(call, source, shape)
    item_size = DTYPES[source.dtype].bytes
    table = _Table.of(source.shape, indices, item_size)
    loops = _loops(source.shape, indices)
    if loops is not None and item_size != 2:
        sizes, strides, offset = loops
        steps = contiguous_strides(sizes)
        cost = copy_cost(sizes, strides, steps, item_size)
        if cost is not None and cost <= table.cost:
            return copy_call(call, source, sizes, strides, steps, offset)
    return KernelCall(
        function="pl_gather_x8",
        header="kernels/gather/gather.h",
        params={},
        dims=table.dims(),
        data={
            "input": source,
            "rows": Constant(table.rows.astype(np.int32)),
            "runs": Constant(table.runs.astype(np.int32)),
            "output": call.output(),
        },
        rows=_by_rows(table, source, call.output()),
    )


def _by_rows(table: "_Table", source: Value, output: Value) -> ByRows | None:
    """Return the row streaming of upsampling: each input row becomes a power of two of
    output rows.
    """
    rows, count = row_count(source.shape), row_count(output.shape)
    times = count // rows
    if 1 in (rows, count) or times * rows != count or times & (times - 1):
        return None
    if table.outer != 1 or len(table.rows) != count:
        return None
    if (table.rows != np.arange(count) // times * (source.bytes // rows)).any():
        return None
    taps = Taps(rows, shift=times.bit_length() - 1)
    return ByRows(count, {"input": taps}, {"rows": 1})


def _indices(call: OpCall, shape: Sequence[int]) -> dict[int, AnyArray]:
    """Return the indices by dimension."""
    dims = call.integers("dims", minimum=0)
    given = call.tensors("indices", "int32")
    call.require(
        0 < len(given) == len(dims) == len(set(dims)) and max(dims) < len(shape),
        f"{len(given)} lists of indices do not go with dims {list(dims)} of {list(shape)}",
    )
    found: dict[int, AnyArray] = {}
    for dim, value in zip(dims, given, strict=True):
        index = value.constant
        if index is None or index.ndim != 1:
            raise call.error(f"the indices of dim {dim} must be a constant list")
        call.require(
            bool(((index >= 0) & (index < shape[dim])).all()),
            f"the indices of dim {dim} are not all in [0, {shape[dim]})",
        )
        found[dim] = index.astype(np.int64)
    return found


@dataclass(frozen=True, eq=False)
class _Table:
    """The arrays of a call of gather.h, in bytes; runs [n, 2]."""

    outer: int
    outer_step: int
    rows: AnyArray
    runs: AnyArray

    @classmethod
    def of(cls, shape: Sequence[int], indices: Mapping[int, AnyArray], item_size: int) -> "_Table":
        first, last = min(indices), max(indices)
        strides = [item_size * stride for stride in contiguous_strides(shape)]
        rows = np.zeros(1, np.int64)
        for d in range(first, last):
            offsets = indices.get(d, np.arange(shape[d])) * strides[d]
            rows = np.add.outer(rows, offsets).reshape(-1)
        index = indices[last]
        # A run goes on as long as the next element is the next in memory.
        starts = np.flatnonzero(np.diff(index, prepend=index[0] - 2) != 1)
        lengths = np.diff(starts, append=len(index))
        runs = np.stack([index[starts], lengths], axis=1) * strides[last]
        return cls(math.prod(shape[:first]), shape[first] * strides[first], rows, runs)

    @property
    def cost(self) -> float:
        a_row = _ROW + _RUN_START * len(self.runs) + _BYTE * int(self.runs[:, 1].sum())
        return self.outer * len(self.rows) * a_row

    def dims(self) -> dict[str, Field]:
        return {
            "outer": self.outer,
            "outer_step": self.outer_step,
            "rows": len(self.rows),
            "runs": len(self.runs),
        }


def _loops(
    shape: Sequence[int], indices: Mapping[int, AnyArray]
) -> tuple[list[int], list[int], int] | None:
    """Return sizes and strides of nested loops over the input in the output's order, and their
    start; None if the indices are irregular.
    """
    sizes: list[int] = []
    strides: list[int] = []
    offset = 0
    for d, stride in enumerate(contiguous_strides(shape)):
        index = indices.get(d, np.arange(shape[d]))
        progressions = _progressions(index)
        if progressions is None:
            return None
        offset += int(index[0]) * stride
        sizes += [size for size, _ in progressions]
        strides += [step * stride for _, step in progressions]
    return sizes, strides, offset


def _progressions(index: AnyArray) -> list[tuple[int, int]] | None:
    """Return the loops over the indices, outermost first, or None.

    Each loop has a size and a step. They start at the first index.
    """
    if len(index) == 1:
        return []
    steps = np.diff(index)
    changes = np.flatnonzero(steps != steps[0])
    size = int(changes[0]) + 1 if len(changes) else len(index)
    if len(index) % size:
        return None
    blocks = index.reshape(-1, size)
    if not bool((np.diff(blocks, axis=1) == steps[0]).all()):
        return None
    outer = _progressions(blocks[:, 0])
    return None if outer is None else [*outer, (size, int(steps[0]))]
