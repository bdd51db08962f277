# SPDX-License-Identifier: Apache-2.0
"""Views in ExecuTorch programs: tensors that share another tensor's bytes in another shape.

ExecuTorch's memory plan puts a view at the address of its base. No instruction writes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from aot.plan.program import is_row_major
from aot.pte import schema

_Place = tuple[int, int, int]


def views_of(forward: schema.ExecutionPlan, input_counts: Sequence[int]) -> dict[int, int]:
    """Return the base of each view, by value index.

    The base is the last value written to the same place, if it has the view's dtype and size. While
    a view is live, no other value can have that place.

    Args:
      forward: of a program. Its delegate calls list the existing values.
      input_counts: how many of the arguments of a call are read, for each delegate.
    """
    tensors = {
        index: value.val
        for index, value in enumerate(forward.values)
        if isinstance(value.val, schema.Tensor) and value.val.data_buffer_idx == 0
    }
    last: dict[_Place, int] = {}
    written: set[int] = set()
    views: dict[int, int] = {}

    def write(indices: Sequence[int]) -> None:
        for index in indices:
            written.add(index)
            if index in tensors and (place := _place(tensors[index])) is not None:
                last[place] = index

    def read(indices: Sequence[int]) -> None:
        for index in indices:
            if index in written or index not in tensors:
                continue
            place = _place(tensors[index])
            source = last.get(place) if place is not None else None
            if source is not None and _same_bytes(tensors[index], tensors[source]):
                views.setdefault(index, source)

    write(forward.inputs)
    for call in (item.instr_args for chain in forward.chains for item in chain.instructions):
        if isinstance(call, schema.KernelCall):
            results = list(_tensors(forward, call.args[-1:]))
            read([i for i in _tensors(forward, call.args[:-1]) if i not in results])
            write(results)
        elif isinstance(call, schema.DelegateCall):
            count = input_counts[call.delegate_index]
            read(call.args[:count])
            write(call.args[count:])
    read(forward.outputs)
    return views


def _tensors(forward: schema.ExecutionPlan, indices: Sequence[int]) -> Iterator[int]:
    """Yield the tensors among the arguments, and the tensor items of list arguments."""
    for index in indices:
        value = forward.values[index].val if 0 <= index < len(forward.values) else None
        if isinstance(value, schema.TensorList):
            yield from value.items
        else:
            yield index


def _place(tensor: schema.Tensor) -> _Place | None:
    at = tensor.allocation_info
    return None if at is None else (at.memory_id, at.memory_offset_low, at.memory_offset_high)


def _same_bytes(one: schema.Tensor, other: schema.Tensor) -> bool:
    return (
        one.scalar_type == other.scalar_type
        and math.prod(one.sizes) == math.prod(other.sizes)
        and _is_plain(one)
        and _is_plain(other)
    )


def _is_plain(tensor: schema.Tensor) -> bool:
    """Return True if a tensor is row-major, and False for a damaged dimension order."""
    dims = list(range(len(tensor.sizes)))
    return sorted(tensor.dim_order) == dims and is_row_major(tensor.sizes, tensor.dim_order)
