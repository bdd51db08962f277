# SPDX-License-Identifier: Apache-2.0
"""Computation of one output row by a call, for plans with row streaming.

A tensor consists of rows of its first dimension with more than one element, if it has two such
dimensions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kernels.common.kernel import Array, Field, KernelCall, Value
from kernels.common.shapes import Broadcast, broadcast_loops


@dataclass(frozen=True)
class Taps:
    """Input rows for an output row.

    Each of the input's `rows` counts 1 << shift times. The output row uses `reach` of the resulting
    rows, from row * stride - pad on. Outside of the input, the nearest row is used.
    """

    rows: int
    stride: int = 1
    pad: int = 0
    reach: int = 1
    shift: int = 0

    def first(self, row: int) -> int:
        return min(max(row * self.stride - self.pad, 0) >> self.shift, self.rows - 1)

    def end(self, row: int) -> int:
        end = row * self.stride - self.pad + self.reach
        return (max(1, min(end, self.rows << self.shift)) - 1 >> self.shift) + 1

    def place(self, row: int) -> int:
        """Return the distance from the first used row to row * stride."""
        return row * self.stride - (self.first(row) << self.shift)


@dataclass(frozen=True)
class ByRows:
    """A call of the same function for one row.

    Attributes:
      rows: of the output.
      inputs: by field of data, the row-streamed ones; all others are as in the call. Of
        an array of structs a field is "inputs[0].address".
      dims: fields that are the same for all rows, but differ from the call's.
      pad, place: fields of params for the position of a row among the given rows of the
        first input. pad is less by Taps.place than in the call, place is more by it; ""
        if there are none.
      height: the field of dims with the number of those, "" if there is none.
      scratch: in bytes, if it differs from the call's.
      folded: for a single result from all rows: another call, whose scratch memory is
        kept from row to row. It writes the result when it has the last row. `rows` are
        then those of the input, `dims` and `row` fields of this call.
      row: the field of dims with the row's number, "" if there is none.
      params: fields that are the same for all rows except for `place`, but differ from
        the call's.
    """

    rows: int
    inputs: Mapping[str, Taps]
    dims: Mapping[str, Field]
    pad: str = ""
    height: str = ""
    scratch: int | None = None
    folded: KernelCall | None = None
    row: str = ""
    place: str = ""
    params: Mapping[str, Field] = field(default_factory=dict)


def operand(data: Mapping[str, Field], field: str) -> Field:
    """Return a field of data by its name in ByRows.inputs."""
    name, _, rest = field.partition("[")
    if not rest:
        return data[name]
    index, _, member = rest.partition("].")
    array = data[name]
    assert isinstance(array, Array)
    item = array.items[int(index)]
    assert isinstance(item, Mapping)
    return item[member]


def row_call(kernel: KernelCall, output: Value, row: int) -> KernelCall:
    """Return the call for one row of `output`, with the input rows it reads."""
    rows = kernel.rows
    assert rows is not None and rows.folded is None
    params, dims = {**kernel.params, **rows.params}, {**kernel.dims, **rows.dims}
    made = _some_rows(output, rows.rows, 1)
    data = {name: made if given is output else given for name, given in kernel.data.items()}
    for name, taps in rows.inputs.items():
        source, count = operand(data, name), taps.end(row) - taps.first(row)
        assert isinstance(source, Value)
        data = _with_operand(data, name, _some_rows(source, taps.rows, count))
    first = next(iter(rows.inputs.values()), Taps(1))  # a row passed by the caller has no inputs
    for place, sign in ((rows.pad, -1), (rows.place, 1)):
        if place:
            base = params[place]
            assert isinstance(base, int)
            params[place] = base + sign * first.place(row)
    if rows.height:
        dims[rows.height] = first.end(row) - first.first(row)
    if rows.row:
        dims[rows.row] = row
    scratch = kernel.scratch if rows.scratch is None else rows.scratch
    return replace(
        kernel, params=params, dims=dims, data=data, scratch=scratch, rows=None, fallback=None
    )


def _some_rows(value: Value, rows: int, count: int) -> Value:
    return Value(value.name, value.dtype, (count, value.size // rows))


def _with_operand(data: Mapping[str, Field], field: str, value: Value) -> dict[str, Field]:
    """Return the data with another operand in a field, as ByRows.inputs names it."""
    name, _, rest = field.partition("[")
    if not rest:
        return {**data, name: value}
    index, _, member = rest.partition("].")
    array = data[name]
    assert isinstance(array, Array)
    items = [*array.items]
    item = items[int(index)]
    assert isinstance(item, Mapping)
    items[int(index)] = {**item, member: value}
    return {**data, name: replace(array, items=tuple(items))}


def row_count(shape: tuple[int, ...]) -> int:
    """Return the number of rows of a tensor with this shape."""
    dims = [size for size in shape if size > 1]
    return dims[0] if len(dims) > 1 else 1


def first_axis(shape: Sequence[int]) -> int:
    """Return the row dimension, or the last one if there are no rows."""
    return next((d for d, size in enumerate(shape) if size > 1), len(shape) - 1)


def product_by_rows(
    source: Value, output: Value, rows: int, scratch: Callable[[int], int] = lambda _: 0
) -> ByRows | None:
    """Return the row streaming of a matrix product with this many rows, the pixels of both tensors.

    `scratch` returns that of a product of a number of rows.
    """
    count = row_count(output.shape)
    if count == 1 or row_count(source.shape) != count or rows % count:
        return None
    few = rows // count
    return ByRows(count, {"input": Taps(count)}, {"rows": few}, scratch=scratch(few))


def elements_by_rows(source: Value, output: Value) -> ByRows | None:
    """Return the row streaming of a pointwise function with a field `size`."""
    count = row_count(output.shape)
    if count == 1 or row_count(source.shape) != count:
        return None
    return ByRows(count, {"input": Taps(count)}, {"size": output.size // count})


def broadcast_by_rows(broadcast: Broadcast, output: Value) -> ByRows | None:
    """Return the row streaming of an elementwise op of two operands.

    An operand that is the same for all rows is read unchanged.
    """
    axis, count = first_axis(output.shape), row_count(output.shape)
    if count == 1:
        return None
    taps: dict[str, Taps] = {}
    for index, (name, value) in enumerate((("a", broadcast.a), ("b", broadcast.b))):
        if broadcast.each[axis].strides[index] == 0:
            continue
        if value.constant is not None or row_count(value.shape) != count:
            return None
        taps[name] = Taps(count)
    return ByRows(count, taps, broadcast_loops(broadcast.each[axis + 1 :]))


def outer_by_rows(source: Value, output: Value, dims: Mapping[str, Field]) -> ByRows | None:
    """Return the row streaming of an op within `outer` consecutive parts of a tensor."""
    count, outer = row_count(output.shape), dims["outer"]
    assert isinstance(outer, int)
    if count == 1 or row_count(source.shape) != count or outer % count:
        return None
    return ByRows(count, {"input": Taps(count)}, {"outer": outer // count})
