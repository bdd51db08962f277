# SPDX-License-Identifier: Apache-2.0
"""Bounds of kernels against the operands of all their cases: what is written is the output, all of
it, and nothing that the kernels' planners make is refused."""

import operator
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, get_args

import pytest

from firmware.slot.bounds import BOUNDS
from firmware.slot.bounds_code import Array, Field, Item, code_text, items
from firmware.slot.expressions import FUNCTIONS, extents
from kernels.common.kernel import Isa, KernelCall, KernelError, OpCall
from kernels.registry import kernel_call
from kernels.testing.folders import folder
from kernels.testing.oracle import expected_outputs
from kernels.testing.program import op_call

_FOLDERS = sorted({bounds.header.split("/")[1] for bounds in BOUNDS.values()})


@lru_cache(maxsize=1)
def _op_calls(name: str) -> list[OpCall]:
    """Of all cases of a folder: what is expected of each is computed once for all cores."""
    return [op_call(case, expected_outputs(case)) for case in folder(name).cases()]


def _calls(name: str, isa: Isa) -> Iterator[KernelCall]:
    for call in _op_calls(name):
        try:
            found: KernelCall | None = kernel_call(call, isa)
        except KernelError:
            continue
        while found is not None:
            yield found
            found = found.nearer


@pytest.mark.parametrize("name", _FOLDERS)
def test_every_call_touches_its_operands_and_no_more(name: str) -> None:
    seen = set()
    for isa in get_args(Isa):
        for call in _calls(name, isa):
            bounds = BOUNDS.get(call.function)
            if bounds is None:
                continue
            seen.add(call.function)
            for operand, (touched, have) in extents(bounds, call, isa).items():
                where = f"{call.function} for {isa}: {operand} of {dict(call.dims)}"
                assert touched <= have, where
                if operand in bounds.writes:
                    assert touched == have, where
    expected = {f for f, bounds in BOUNDS.items() if bounds.header.split("/")[1] == name}
    assert expected <= seen


def _value(found: list[Item], call: KernelCall, isa: Isa) -> int:
    """What the code of an expression gives."""
    structs = {"dims": call.dims, "params": call.params}
    stack: list[int] = []
    for item in found:
        match item:
            case Field(struct=struct, name=name, index=index):
                value: Any = structs[struct][name]
                stack.append(value[index] if isinstance(value, tuple) else value)
            case Array(arrays=names):
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


@pytest.mark.parametrize("name", _FOLDERS)
def test_the_code_computes_what_the_expressions_say(name: str) -> None:
    for isa in get_args(Isa):
        for call in _calls(name, isa):
            bounds = BOUNDS.get(call.function)
            if bounds is None:
                continue
            for text in bounds.needs:
                assert _value(items(bounds, text), call, isa) == 1
            found = extents(bounds, call, isa)
            for operand, extent in {**bounds.reads, **bounds.writes}.items():
                value = _value(items(bounds, extent.elements), call, isa)
                assert value * extent.size == found[operand][0]
            assert _value(items(bounds, bounds.scratch), call, isa) == found["scratch"][0]


@pytest.mark.parametrize("function", BOUNDS)
def test_there_is_code_for_every_kernel(function: str) -> None:
    text = code_text("code", BOUNDS[function])
    assert text.count("PL_CODE_WRITE") == len(BOUNDS[function].writes)
    assert text.endswith("    PL_CODE_END,\n};\n\n")
