# SPDX-License-Identifier: Apache-2.0
"""Access map of a kernel: the memory that a call reads and writes, from its params and dims.

The access.py of a kernel's folder holds one for each function. The plan compiler proves by them
that no call of a plan leaves its operands. Firmware with a slot proves it for packages, which are
data from another party: aot/slot/bounds_code.py compiles the expressions for it.
kernels/testing/touched compares them with what the C code touches.

An expression has the names of dims and params. `a // b`, `a % b` and `a >> b` have operands of at
least 0, a divisor of at least 1. All parts are computed, including the branch not taken by a
condition, in 32 bits. An overflow is more than any memory has. Functions:

    up(a, b)            the next multiple of b
    product(sizes)      of an array of dims
    span(sizes, steps)  elements of nested loops, from where they start to the last one
    below(sizes, steps) elements before the start, for negative steps
    total(table, x)     the sum of x over the entries of a table
    most(table, x)      the largest x, at least 0
    every(table, x)     1 if x is not 0 for all entries
"""

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, SimpleNamespace
from typing import Any, cast

from kernels.common.kernel import Array, Constant, Field, Isa, KernelCall, Value

MAX = 65535
LONG = 2**24 - 1
ANY = (-(2**31), 2**31 - 1)
"""The range of a field restricted by conditions."""

Range = tuple[int, int]


@dataclass(frozen=True)
class Extent:
    """Elements of `size` bytes a call accesses, from an operand's first one on; the operand may be
    null if it is `optional`.
    """

    elements: str
    size: int = 1
    optional: bool = False


@dataclass(frozen=True)
class Table:
    """A constant operand with entries that control other accesses.

    Attributes:
      count: entries, a field of dims.
      fields: of an entry, with their ranges.
      struct: C type of an entry, "" for an array of int32 with all `fields`.
      pointed: bytes read from the `address` of an entry, "" if it has none.
    """

    count: str
    fields: Mapping[str, Range]
    struct: str = ""
    pointed: str = ""


@dataclass(frozen=True)
class Access:
    """Access map of a kernel.

    Attributes:
      header: as in KernelCall.
      dims: the range of each field of dims used in an expression, in the order of the
        struct; of all elements of an array.
      params: likewise.
      reads, writes: operands.
      tables: operands whose entries are in expressions.
      factors: channels of `multiplier` and `shift`, "" if there are none.
      hidden_factors: likewise of `hidden_multiplier` and `hidden_shift`.
      scratch: bytes.
      needs: further conditions.
      arithmetic: likewise of the params of packages, so nothing in C is undefined.
      has_params: there is such a struct.
      revision: raised when the packing of constants changes, because the header's structs
        do not show that.
    """

    header: str
    dims: Mapping[str, Range]
    reads: Mapping[str, Extent]
    writes: Mapping[str, Extent]
    params: Mapping[str, Range] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    factors: str = ""
    hidden_factors: str = ""
    scratch: str = "0"
    needs: tuple[str, ...] = ()
    arithmetic: tuple[str, ...] = ()
    has_params: bool = True
    revision: int = 1

    def pairs_of_factors(self) -> list[tuple[str, tuple[str, str]]]:
        """Return the channels, and the operands with their multipliers and shifts."""
        of = {"": self.factors, "hidden_": self.hidden_factors}
        return [(text, (f"{n}multiplier", f"{n}shift")) for n, text in of.items() if text]


class OutsideError(ValueError):
    """Error: a call violates its kernel's access map. The message lists the violation."""


def block(isa: Isa) -> int:
    """Return how many output channels pl_gemm_s8 packs together: `block` in expressions."""
    return 1 if isa == "mve" else 4


def _up(value: int, of: int) -> int:
    return -(-value // of) * of


def _span(sizes: tuple[int, ...], strides: tuple[int, ...]) -> int:
    return 1 + sum((s - 1) * max(step, 0) for s, step in zip(sizes, strides, strict=True))


def _below(sizes: tuple[int, ...], strides: tuple[int, ...]) -> int:
    return sum((s - 1) * max(-step, 0) for s, step in zip(sizes, strides, strict=True))


FUNCTIONS: dict[str, Callable[..., int]] = {
    "up": _up,
    "span": _span,
    "below": _below,
    "product": math.prod,
    "total": lambda table, x: sum(x(**entry) for entry in table),
    "most": lambda table, x: max((int(x(**entry)) for entry in table), default=0),
    "every": lambda table, x: int(all(x(**entry) for entry in table)),
}


class _OfEntries(ast.NodeTransformer):
    """Makes a function of an entry of the second argument of functions of tables."""

    def __init__(self, tables: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
        self._tables = dict(tables)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        assert isinstance(node.func, ast.Name)
        if node.func.id in ("total", "most", "every"):
            name, x = node.args
            assert isinstance(name, ast.Name)
            fields = [ast.arg(field) for field in self._tables[name.id]]
            arguments = ast.arguments([], [], None, fields, [None for _ in fields], None, [])
            node.args = [ast.Name(f"{name.id}_entries", ast.Load()), ast.Lambda(arguments, x)]
        return node


@cache
def _code(text: str, tables: tuple[tuple[str, tuple[str, ...]], ...]) -> CodeType:
    tree = _OfEntries(tables).visit(ast.parse(text, mode="eval"))
    return compile(ast.fix_missing_locations(tree), "access", "eval")


class CallValues:
    """The numbers of an access map for a call."""

    def __init__(self, access: Access, call: KernelCall, isa: Isa) -> None:
        self._names: dict[str, Any] = {**FUNCTIONS, "block": block(isa)}
        for name, value in {**call.dims, **call.params}.items():
            self._names[name] = SimpleNamespace(**value) if isinstance(value, Mapping) else value
        self.entries = {
            name: _entries(call.data[name], table)[: self._names[table.count]]
            for name, table in access.tables.items()
        }
        self._names |= {f"{n}_entries": entries for n, entries in self.entries.items()}
        self._tables = tuple((n, tuple(t.fields)) for n, t in access.tables.items())

    def field(self, name: str) -> Field:
        """Return a field of dims or params, `a.b` of a struct in it."""
        first, *rest = name.split(".")
        value = self._names[first]
        for part in rest:
            value = getattr(value, part)
        found: Field = value
        return found

    def number(self, text: str, entry: Mapping[str, int] | None = None) -> int:
        """Return the value of an expression; `entry` has more names."""
        return int(eval(_code(text, self._tables), {**self._names, **(entry or {})}))


def _entries(given: Field, table: Table) -> list[dict[str, int]]:
    """Return the fields of each entry of a table."""
    if isinstance(given, Array):
        items = cast("Sequence[Mapping[str, int]]", given.items)
        return [{field: item[field] for field in table.fields} for item in items]
    assert isinstance(given, Constant)
    rows = given.array.reshape(-1, len(table.fields)).tolist()
    return [dict(zip(table.fields, row, strict=True)) for row in rows]


def check_ranges(access: Access, call: KernelCall, isa: Isa) -> None:
    """Raise OutsideError if a field is not in the range allowed in packages."""
    values = CallValues(access, call, isa)
    found = [(n, values.field(n), r) for n, r in {**access.dims, **access.params}.items()]
    for name, table in access.tables.items():
        entries = values.entries[name]
        found += [(f"{name}.{n}", e[n], r) for e in entries for n, r in table.fields.items()]
    for name, value, (low, high) in found:
        for item in value if isinstance(value, tuple) else (value,):
            if not isinstance(item, int) or not low <= item <= high:
                raise OutsideError(f"{name} is {item}, not in [{low}, {high}]")


def check_arithmetic(access: Access, call: KernelCall, isa: Isa) -> None:
    """Raise OutsideError if packages cannot hold these params."""
    values = CallValues(access, call, isa)
    for text in access.arithmetic:
        if not values.number(text):
            raise OutsideError(f"its numbers are too large for a package: not {text}")


def extents(access: Access, call: KernelCall, isa: Isa) -> dict[str, tuple[int, int]]:
    """Return the bytes of each operand a call accesses, and the operand's size; "scratch" is
    included.

    Raises:
      OutsideError: a condition does not hold.
    """
    values = CallValues(access, call, isa)
    number = values.number
    for text in access.needs:
        if not number(text):
            raise OutsideError(f"it has to be so: {text}")
    found = {
        name: (number(extent.elements) * extent.size, _bytes(call.data[name]))
        for name, extent in {**access.reads, **access.writes}.items()
        if not (extent.optional and call.data.get(name) is None)
    }
    for text, operands in access.pairs_of_factors():
        arrays = [call.data.get(name) for name in operands]
        have = sum(_bytes(array) for array in arrays if array is not None)
        found[" and ".join(operands)] = (8 * number(text), have)
    for name, table in access.tables.items():
        entries, count = values.entries[name], number(table.count)
        found[name] = (count, len(entries))
        for index, (address, entry) in enumerate(_pointed(call.data[name], table)):
            found[f"{name}[{index}]"] = (number(table.pointed, entry), _bytes(address))
    return found | {"scratch": (number(access.scratch), call.scratch)}


def _pointed(given: Field, table: Table) -> Iterator[tuple[Field, dict[str, int]]]:
    """Yield the operand of each entry, and the entry."""
    if table.pointed:
        assert isinstance(given, Array)
        for item, entry in zip(given.items, _entries(given, table), strict=True):
            assert isinstance(item, Mapping)
            yield item["address"], entry


def _bytes(operand: Field) -> int:
    assert isinstance(operand, (Value, Constant))
    return operand.bytes if isinstance(operand, Value) else operand.array.nbytes


def check_touched(access: Access, call: KernelCall, isa: Isa) -> None:
    """Raise OutsideError if a call touches memory outside of its operands."""
    for name, (touched, have) in extents(access, call, isa).items():
        if touched > have:
            raise OutsideError(f"{call.function} touches {touched} bytes of {name}, of {have}")


def check(access: Access, call: KernelCall, isa: Isa) -> None:
    """Raise OutsideError if a package cannot hold a call."""
    check_ranges(access, call, isa)
    check_arithmetic(access, call, isa)
    check_touched(access, call, isa)
