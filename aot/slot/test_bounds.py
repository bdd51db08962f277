# SPDX-License-Identifier: Apache-2.0
"""Bounds of kernels against the operands of all their cases, including row streaming and fallback
calls. Kernels write exactly the whole output. No operand from the kernels' planners is refused.
"""

import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, get_args

import pytest

from aot.slot.bounds_code import BoundsArray, Item, StructField, code_text, items
from firmware.slot.bounds import BOUNDS
from firmware.slot.expressions import FUNCTIONS, check_arithmetic, check_ranges, extents
from kernels.common.kernel import Isa, KernelCall, KernelError, OpCall
from kernels.common.rows import row_call
from kernels.registry import kernel_call
from kernels.testing.folders import folder
from kernels.testing.oracle import expected_outputs
from kernels.testing.program import op_call

_FOLDERS = sorted({bounds.header.split("/")[1] for bounds in BOUNDS.values()})


def _op_calls(name: str) -> Iterator[OpCall]:
    """Yield the op calls of all cases of a folder."""
    for case in folder(name).cases():
        yield op_call(case, expected_outputs(case))


def _calls(call: OpCall, isa: Isa) -> Iterator[KernelCall]:
    try:
        found: KernelCall | None = kernel_call(call, isa)
    except KernelError:
        return
    while found is not None:
        yield found
        rows = found.rows
        if rows is not None and rows.folded is None:
            for row in {0, rows.rows // 2}:
                yield row_call(found, call.outputs[0], row)
        found = found.fallback


@pytest.fixture(scope="module", params=_FOLDERS)
def calls(request: pytest.FixtureRequest) -> tuple[str, list[tuple[Isa, KernelCall]]]:
    """A folder, and its calls of functions with bounds, for all cores."""
    found = [
        (isa, kernel)
        for call in _op_calls(request.param)
        for isa in get_args(Isa)
        for kernel in _calls(call, isa)
        if kernel.function in BOUNDS
    ]
    return request.param, found


def test_every_call_touches_its_operands_and_no_more(
    calls: tuple[str, list[tuple[Isa, KernelCall]]],
) -> None:
    name, found = calls
    seen = set()
    for isa, call in found:
        bounds = BOUNDS[call.function]
        seen.add(call.function)
        check_ranges(bounds, call)
        check_arithmetic(bounds, call, isa)
        for operand, (touched, have) in extents(bounds, call, isa).items():
            where = f"{call.function} for {isa}: {operand} of {dict(call.dims)}"
            assert touched <= have, where
            if operand in bounds.writes:
                assert touched == have, where
    expected = {f for f, bounds in BOUNDS.items() if bounds.header.split("/")[1] == name}
    assert expected <= seen


@cache
def _items(function: str, text: str) -> list[Item]:
    return items(BOUNDS[function], text)


def _value(found: list[Item], call: KernelCall, isa: Isa) -> int:
    """Return the value of an expression's code."""
    structs = {"dims": call.dims, "params": call.params}
    stack: list[int] = []
    for item in found:
        match item:
            case StructField(struct=struct, name=name, index=index):
                value: Any = structs[struct]
                for part in name.split("."):
                    value = value[part]
                stack.append(value[index] if isinstance(value, tuple) else value)
            case BoundsArray(arrays=names):
                arrays = [call.dims[name] for name in names]
                stack.append(FUNCTIONS["product" if len(arrays) == 1 else "span"](*arrays))
            case int():
                stack.append(item)
            case "block":
                stack.append(1 if isa == "mve" else 4)
            case "SELECT":
                test, body, other = stack[-3:]
                stack[-3:] = [body if test else other]
            case str():
                stack[-2:] = [int(_OPERATIONS[item](*stack[-2:]))]
    assert len(stack) == 1
    return stack[0]


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "ADD": operator.add,
    "SUB": operator.sub,
    "MUL": operator.mul,
    "DIV": operator.floordiv,
    "MOD": operator.mod,
    "UP": FUNCTIONS["up"],
    "LT": operator.lt,
    "LE": operator.le,
    "EQ": operator.eq,
    "AND": operator.and_,
    "OR": operator.or_,
}


def test_the_code_computes_what_the_expressions_say(
    calls: tuple[str, list[tuple[Isa, KernelCall]]],
) -> None:
    for isa, call in calls[1]:
        bounds = BOUNDS[call.function]
        for text in (*bounds.needs, *bounds.arithmetic):
            assert _value(_items(call.function, text), call, isa) == 1
        found = extents(bounds, call, isa)
        for operand, extent in {**bounds.reads, **bounds.writes}.items():
            value = _value(_items(call.function, extent.elements), call, isa)
            assert value * extent.size == found[operand][0]
        assert _value(_items(call.function, bounds.scratch), call, isa) == found["scratch"][0]


@pytest.mark.parametrize("function", BOUNDS)
def test_there_is_code_for_every_kernel(function: str) -> None:
    text = code_text("code", BOUNDS[function])
    assert text.count("PL_CODE_WRITE") == len(BOUNDS[function].writes)
    assert text.endswith("    PL_CODE_END,\n};\n\n")
