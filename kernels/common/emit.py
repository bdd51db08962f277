# SPDX-License-Identifier: Apache-2.0
"""C text of kernel calls: designated initialisers of structs and definitions of constants.

The plan compiler and the kernel tests both use it, so the tests cover the shipped code.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kernels.common.kernel import (
    INT32_MIN,
    AnyArray,
    Array,
    Constant,
    Field,
    KernelCall,
    Symbol,
    Value,
)
from kernels.common.tensor import DTYPES

Address = Callable[[Value | Constant], str]
"""The C expression of an operand's address: an address constant that converts implicitly to the
field's pointer type, such as `weights_3` or `(void *)(arena_sram + 1024)`.
"""

_LINE_WIDTH = 100


def number(value: int | float) -> str:
    """Return a C literal; floats are rounded to float32 and written in hexadecimal, exactly."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        if value == INT32_MIN:
            return "INT32_MIN"
        if not INT32_MIN < value < 2**32:
            raise ValueError(f"{value} does not fit a 32-bit field")
        return f"{value}u" if value >= 2**31 else str(value)
    single = np.float32(value)
    if np.isnan(single):
        return '__builtin_nanf("")'
    if np.isinf(single):
        return "__builtin_inff()" if single > 0 else "-__builtin_inff()"
    return float(single).hex() + "f"


def initializer(value: Field, address: Address) -> str:
    """Return the C initialiser of a struct field: mappings become designated initialisers."""
    if value is None:
        return "NULL"
    if isinstance(value, (Value, Constant)):
        return address(value)
    if isinstance(value, Symbol):
        return f"&{value.name}"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Array):
        items = ", ".join(initializer(item, address) for item in value.items)
        return f"({value.element_type}[]){{{items}}}"
    if isinstance(value, Mapping):
        fields = (f".{name} = {initializer(item, address)}" for name, item in value.items())
        return "{" + ", ".join(fields) + "}"
    if isinstance(value, tuple):
        return "{" + ", ".join(initializer(item, address) for item in value) + "}"
    return number(value)


@dataclass(frozen=True)
class CallText:
    """C of one kernel call: definitions at file scope and the arguments that refer to them."""

    definitions: str
    params: str
    dims: str
    data: str


def call_text(call: KernelCall, name: str, address: Address) -> CallText:
    """Define `<name>_params`, `<name>_dims` and `<name>_data`, if they are not empty."""
    definitions: list[str] = []

    def part(kind: str, fields: Mapping[str, Field]) -> str:
        if not fields:
            return "NULL"
        definitions.append(
            f"static const {call.struct_prefix}_{kind} {name}_{kind} = "
            f"{_wrapped(initializer(fields, address))};\n"
        )
        return f"&{name}_{kind}"

    params = part("params", call.params)
    dims = part("dims", call.dims)
    data = part("data", call.data)
    return CallText("".join(definitions), params, dims, data)


def array(name: str, elements: AnyArray, alignment: int = 4, attributes: str = "") -> str:
    """Define a const array at file scope, e.g. with a section among its attributes."""
    items = ", ".join(number(item) for item in elements.reshape(-1).tolist())
    suffix = f" {attributes}" if attributes else ""
    return (
        f"static const _Alignas({alignment}) {DTYPES[elements.dtype.name].c_type} "
        f"{name}[{elements.size}]{suffix} = {_wrapped('{' + items + '}')};\n"
    )


def constant(name: str, value: Constant, attributes: str = "") -> str:
    """Define a packed constant of a kernel call."""
    return array(name, value.array, value.alignment, attributes)


def _wrapped(text: str) -> str:
    """Break a long initialiser after commas."""
    if len(text) < _LINE_WIDTH:
        return text
    lines: list[str] = []
    line = "   "
    for word in text.split(" "):
        if len(line) + 1 + len(word) > _LINE_WIDTH:
            lines.append(line)
            line = "   "
        line += " " + word
    return "\n".join([*lines, line]).lstrip()
