# SPDX-License-Identifier: Apache-2.0
"""The expressions of bounds.py, as C and as numbers."""

import ast
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firmware.slot.bounds import Bounds
from kernels.common.kernel import Constant, Field, Isa, KernelCall, Value

_ARRAYS = {"size": 5, "a_stride": 5, "b_stride": 5}
_REDUCED = ("kept", "kept_stride", "reduced", "reduced_stride")
_ARRAY_SIZES = {**_ARRAYS, **dict.fromkeys(_REDUCED, 3)}
_ROOT = Path(__file__).parents[2]


class OutsideError(ValueError):
    """A call is not as its kernel's bounds say; the text says what is not."""


def array_size(bounds: Bounds, name: str) -> int:
    """Elements of a field of dims or params, 1 if it is no array."""
    is_array = name != "size" or "a_stride" in bounds.dims
    return _ARRAY_SIZES.get(name, 1) if is_array else 1


def c_text(bounds: Bounds, text: str, saturate: bool = True) -> str:
    """An expression as C, in the check of a call (kernel_table.py).

    Args:
      bounds: of the kernel.
      text: the expression.
      saturate: for an extent: in uint32_t, where what overflows is the largest. Else in int32_t.
    """

    def plain(node: ast.expr) -> str:
        return convert(node, False)

    def convert(node: ast.expr, saturating: bool) -> str:
        def inner(part: ast.expr) -> str:
            return convert(part, saturating)

        match node:
            case ast.Constant(value=int(value)):
                return f"{value:d}u" if saturating else f"{value:d}"
            case ast.Name(id="block"):
                return "PL_BLOCK"
            case ast.Name(id=name):
                field = f"{'dims' if name in bounds.dims else 'params'}->{name}"
                return f"(uint32_t){field}" if saturating else field
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=index)):
                return f"dims->{name}[{index!r}]"
            case ast.Call(func=ast.Name(id="up"), args=[value, of]):
                return f"pl_up({inner(value)}, {inner(of)})"
            case ast.Call(func=ast.Name(id=function), args=arguments):
                names = [part.id for part in arguments if isinstance(part, ast.Name)]
                fields = ", ".join(f"dims->{name}" for name in names)
                return f"pl_{function}({fields}, {array_size(bounds, names[0])})"
            case ast.BinOp(left=left, op=ast.Mult(), right=right) if saturating:
                return f"pl_times({inner(left)}, {inner(right)})"
            case ast.BinOp(left=left, op=ast.Add(), right=right) if saturating:
                return f"pl_plus({inner(left)}, {inner(right)})"
            case ast.BinOp(left=left, op=op, right=right):
                sign = {ast.Mult: "*", ast.Add: "+", ast.Sub: "-", ast.FloorDiv: "/", ast.Mod: "%"}
                return f"({inner(left)} {sign[type(op)]} {inner(right)})"
            case ast.IfExp(test=test, body=body, orelse=other):
                return f"({plain(test)} ? {inner(body)} : {inner(other)})"
            case ast.BoolOp(op=op, values=values):
                sign_of = " && " if isinstance(op, ast.And) else " || "
                return f"({sign_of.join(map(plain, values))})"
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=="}
                return f"({plain(left)} {signs[type(op)]} {plain(right)})"
        raise AssertionError(f"{ast.unparse(node)} is not among what bounds are written in")

    return convert(ast.parse(text, mode="eval").body, saturate)


def _up(value: int, of: int) -> int:
    return -(-value // of) * of


def _span(sizes: tuple[int, ...], strides: tuple[int, ...]) -> int:
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


_FUNCTIONS = {"up": _up, "span": _span, "product": math.prod}


def extents(bounds: Bounds, call: KernelCall, isa: Isa) -> dict[str, tuple[int, int]]:
    """Bytes of each operand that a call touches, and that it has; "scratch" is among them.

    Raises:
      OutsideError: a field or a condition is not as the bounds say.
    """
    names: dict[str, Any] = {**call.dims, **call.params, "block": 1 if isa == "mve" else 4}
    for given, fields in ((call.dims, bounds.dims), (call.params, bounds.params)):
        for name, (low, high) in fields.items():
            value = given[name]
            for item in value if isinstance(value, tuple) else (value,):
                if not isinstance(item, int) or not low <= item <= high:
                    raise OutsideError(f"{name} is {item}, not in [{low}, {high}]")

    def number(text: str) -> int:
        return int(eval(compile(text, "bounds", "eval"), {**_FUNCTIONS, **names}))

    for text in bounds.needs:
        if not number(text):
            raise OutsideError(f"it has to be so: {text}")
    found = {
        name: (number(extent.elements) * extent.size, _bytes(call.data[name]))
        for name, extent in {**bounds.reads, **bounds.writes}.items()
    }
    if bounds.factors:
        arrays = [call.data.get(name) for name in ("multiplier", "shift")]
        have = sum(_bytes(array) for array in arrays if array is not None)
        found["multiplier and shift"] = (8 * number(bounds.factors), have)
    return found | {"scratch": (number(bounds.scratch), call.scratch)}


def _bytes(operand: Field) -> int:
    assert isinstance(operand, (Value, Constant))
    return operand.bytes if isinstance(operand, Value) else operand.array.nbytes


def check(bounds: Mapping[str, Bounds], call: KernelCall, isa: Isa) -> None:
    """OutsideError if a package cannot hold a call."""
    if call.function not in bounds:
        raise OutsideError(
            f"packages cannot use {call.function}: nothing says what memory it touches "
            f"(firmware/slot/bounds.py). They can use {', '.join(sorted(bounds))}"
        )
    for name, (touched, have) in extents(bounds[call.function], call, isa).items():
        if touched > have:
            raise OutsideError(f"{call.function} touches {touched} bytes of {name}, of {have}")


def structure(*headers: str) -> str:
    """What headers declare: their text without comments and white space."""
    text = "".join((_ROOT / header).read_text() for header in headers)
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text))
