# SPDX-License-Identifier: Apache-2.0
"""Access maps of kernels against the operands of all their cases, rows and fallback calls included.

Kernels write exactly the whole output. No operand from the kernels' planners is refused.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, get_args

import pytest

from aot.slot.bounds_code import BoundsArray, Entries, Item, StructField, code_text, items
from kernels.accesses import accesses
from kernels.common.access import (
    FUNCTIONS,
    CallValues,
    check_arithmetic,
    check_ranges,
    extents,
)
from kernels.common.kernel import Isa, KernelCall, KernelError, OpCall
from kernels.common.rows import row_call
from kernels.registry import kernel_call
from kernels.testing.folders import folder
from kernels.testing.oracle import expected_outputs
from kernels.testing.program import op_call

ACCESS = accesses()
_FOLDERS = sorted({access.header.split("/")[1] for access in ACCESS.values()})


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
        if rows is not None and rows.folded is not None:
            yield rows.folded
        elif rows is not None:
            for row in {0, rows.rows // 2}:
                yield row_call(found, call.outputs[0], row)
        found = found.fallback


@pytest.fixture(scope="module", params=_FOLDERS)
def calls(request: pytest.FixtureRequest) -> tuple[str, list[tuple[Isa, KernelCall]]]:
    """A folder, and its calls of functions with access maps, for all cores."""
    found = [
        (isa, kernel)
        for call in _op_calls(request.param)
        for isa in get_args(Isa)
        for kernel in _calls(call, isa)
        if kernel.function in ACCESS
    ]
    return request.param, found


def test_every_call_touches_its_operands_and_no_more(
    calls: tuple[str, list[tuple[Isa, KernelCall]]],
) -> None:
    name, found = calls
    seen = set()
    for isa, call in found:
        access = ACCESS[call.function]
        seen.add(call.function)
        check_ranges(access, call, isa)
        check_arithmetic(access, call, isa)
        for operand, (touched, have) in extents(access, call, isa).items():
            where = f"{call.function} for {isa}: {operand} of {dict(call.dims)}"
            assert touched <= have, where
            if operand in access.writes:
                assert touched == have, where
    expected = {f for f, access in ACCESS.items() if access.header.split("/")[1] == name}
    assert expected <= seen


def _value(found: Sequence[Item], values: CallValues, entry: dict[str, int]) -> int:
    """Return the value of an expression's code."""
    stack: list[int] = []
    for item in found:
        match item:
            case StructField(struct="entry", name=name):
                stack.append(entry[name])
            case StructField(name=name, index=index):
                value: Any = values.field(name)
                stack.append(value[index] if isinstance(value, tuple) else value)
            case BoundsArray(kind=kind, names=names):
                stack.append(FUNCTIONS[kind.lower()](*map(values.field, names)))
            case Entries(table=name, start=start, items=each, operation=operation):
                stack.append(start)
                for of in values.entries[name]:
                    stack[-1] = int(_OPERATIONS[operation](stack[-1], _value(each, values, of)))
            case int():
                stack.append(item)
            case "block":
                stack.append(values.number("block"))
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
    "SHIFT": operator.rshift,
    "MAX": max,
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
        access = ACCESS[call.function]
        values = CallValues(access, call, isa)
        texts = [*access.needs, *access.arithmetic, access.scratch]
        texts += [e.elements for e in (*access.reads.values(), *access.writes.values())]
        for text in texts:
            assert _value(_items(call.function, text), values, {}) == values.number(text), text


@cache
def _items(function: str, text: str) -> list[Item]:
    return items(ACCESS[function], text)


@pytest.mark.parametrize("function", ACCESS)
def test_there_is_code_for_every_kernel(function: str) -> None:
    text = code_text("code", ACCESS[function])
    assert text.count("PL_CODE_WRITE") == len(ACCESS[function].writes)
    assert text.endswith("    PL_CODE_END,\n};\n\n")
