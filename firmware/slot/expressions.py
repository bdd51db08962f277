# SPDX-License-Identifier: Apache-2.0
"""The expressions of bounds.py as numbers."""

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

from firmware.slot.extents import Bounds
from kernels.common.kernel import Array, Constant, Field, Isa, KernelCall, Value
from kernels.common.tensor import MAX_RANK

_LOOPS = {"a_stride": 5, "b_stride": 5, "input_stride": MAX_RANK, "output_stride": MAX_RANK}
_REDUCED = ("kept", "kept_stride", "reduced", "reduced_stride")
_ARRAY_SIZES = {**_LOOPS, **dict.fromkeys(_REDUCED, 3)}
_ROOT = Path(__file__).parents[2]


class OutsideError(ValueError):
    """Error: a call violates its kernel's bounds. The message lists the violation."""


def array_size(bounds: Bounds, name: str) -> int:
    """Elements of a field of dims or params, 1 if it is no array."""
    if name == "size":
        return next((_LOOPS[stride] for stride in bounds.dims if stride in _LOOPS), 1)
    return _ARRAY_SIZES.get(name, 1)


def _up(value: int, of: int) -> int:
    return -(-value // of) * of


def _span(sizes: tuple[int, ...], strides: tuple[int, ...]) -> int:
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


FUNCTIONS: dict[str, Callable[..., int]] = {
    "up": _up,
    "span": _span,
    "product": math.prod,
}


@cache
def _code(text: str) -> CodeType:
    return compile(text, "bounds", "eval")


def check_ranges(bounds: Bounds, call: KernelCall) -> None:
    """Raise OutsideError if a field is not in the range allowed in packages."""
    for given, fields in ((call.dims, bounds.dims), (call.params, bounds.params)):
        for name, (low, high) in fields.items():
            value = given[name]
            for item in value if isinstance(value, tuple) else (value,):
                if not isinstance(item, int) or not low <= item <= high:
                    raise OutsideError(f"{name} is {item}, not in [{low}, {high}]")


def check_arithmetic(bounds: Bounds, call: KernelCall, isa: Isa) -> None:
    """Raise OutsideError if packages cannot hold these params."""
    structs = {k: SimpleNamespace(**v) for k, v in call.params.items() if isinstance(v, Mapping)}
    names = {**FUNCTIONS, **call.dims, **call.params, **structs, "block": _block(isa)}
    for text in bounds.arithmetic:
        if not eval(_code(text), names):
            raise OutsideError(f"packages cannot hold these params of {call.function}: not {text}")


def _block(isa: Isa) -> int:
    return 1 if isa == "mve" else 4


def extents(bounds: Bounds, call: KernelCall, isa: Isa) -> dict[str, tuple[int, int]]:
    """Return the bytes of each operand a call accesses, and the operand's size; "scratch" is
    included.

    Raises:
      OutsideError: a condition does not hold.
    """
    names: dict[str, Any] = {**call.dims, **call.params, "block": _block(isa)}

    def number(text: str) -> int:
        return int(eval(_code(text), {**FUNCTIONS, **names}))

    for text in bounds.needs:
        if not number(text):
            raise OutsideError(f"it has to be so: {text}")
    found = {
        name: (number(extent.elements) * extent.size, _bytes(call.data[name]))
        for name, extent in {**bounds.reads, **bounds.writes}.items()
    }
    for text, operands in bounds.pairs_of_factors():
        arrays = [call.data.get(name) for name in operands]
        have = sum(_bytes(array) for array in arrays if array is not None)
        found[" and ".join(operands)] = (8 * number(text), have)
    if bounds.pieces:
        _, times, most = (number(name) for name in bounds.dims)
        table = call.data[bounds.pieces]
        assert isinstance(table, Array)
        total = 0
        for index, item in enumerate(table.items):
            assert isinstance(item, Mapping) and isinstance(item["bytes"], int)
            total += item["bytes"]
            touched = times * item["bytes"], _bytes(item["address"])
            found[f"{bounds.pieces}[{index}]"] = touched
        found[bounds.pieces] = (total, most)
    return found | {"scratch": (number(bounds.scratch), call.scratch)}


def _bytes(operand: Field) -> int:
    assert isinstance(operand, (Value, Constant))
    return operand.bytes if isinstance(operand, Value) else operand.array.nbytes


def check_touched(bounds: Bounds, call: KernelCall, isa: Isa) -> None:
    """Raise OutsideError if a call touches memory outside of its operands."""
    for name, (touched, have) in extents(bounds, call, isa).items():
        if touched > have:
            raise OutsideError(f"{call.function} touches {touched} bytes of {name}, of {have}")


def check(bounds: Mapping[str, Bounds], call: KernelCall, isa: Isa) -> None:
    """OutsideError if a package cannot hold a call."""
    if call.function not in bounds:
        raise OutsideError(
            f"packages cannot use {call.function}: nothing says what memory it touches "
            f"(firmware/slot/bounds.py). They can use {', '.join(sorted(bounds))}"
        )
    check_ranges(bounds[call.function], call)
    check_arithmetic(bounds[call.function], call, isa)
    check_touched(bounds[call.function], call, isa)


def structure(*headers: str) -> str:
    """Return the declarations of headers: their text without comments and white space."""
    text = "".join((_ROOT / header).read_text() for header in headers)
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text))
