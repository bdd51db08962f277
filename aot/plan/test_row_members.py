# SPDX-License-Identifier: Apache-2.0
"""Members of row groups other than int8 image ops: state, delegates, padding, upsampling."""

import re

import numpy as np
import pytest

from aot.plan.emit_rows import RowGroups
from aot.plan.graph import build_graph
from aot.plan.plan import Plan, make_plan
from aot.plan.program import PlanProgram
from aot.plan.rows import Rows
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Calls, Stateful
from aot.plan.testing_convolutions import added, depthwise, pointwise, scaled
from kernels.common.kernel import Isa, Value

ISAS: tuple[Isa, ...] = ("scalar", "thumb1", "dsp", "mve")


def transposed(calls: Calls, x: Value, stride: int) -> Value:
    """Twice or three times as many pixels in both directions."""
    n, h, w, c = x.shape

    def constant(shape: tuple[int, ...], dtype: str, value: int) -> Value:
        return Value("constant", dtype, shape, np.full(shape, value, dtype))

    return calls.call(
        "pl::transpose_conv2d",
        (n, h * stride, w * stride, c),
        input=x,
        weight=constant((c, stride, stride, c), "int8", 1),
        bias=constant((c,), "int32", 0),
        multiplier=constant((c,), "int32", 2**30),
        shift=constant((c,), "int32", -7),
        stride=[stride, stride],
        padding=[0, 0],
        dilation=[1, 1],
        output_size=[h * stride, w * stride],
        groups=1,
        input_zero_point=0,
        output_zero_point=0,
        activation_min=-128,
        activation_max=127,
    )


def bilinear(calls: Calls, x: Value, times: int) -> Value:
    n, h, w, c = x.shape
    return calls.call(
        "pl::resize_bilinear",
        (n, h * times, w * times, c),
        input=x,
        output_size=[h * times, w * times],
        step=[2, 2],
        offset=[1 - times, 1 - times],
        unit=[2 * times, 2 * times],
    )


def padded(calls: Calls, x: Value, top: int, bottom: int) -> Value:
    n, h, w, c = x.shape
    padding = [0, 0, top, bottom, 1, 0, 0, 0]
    return calls.call(
        "pl::pad", (n, h + top + bottom, w + 1, c), input=x, padding=padding, value=-3
    )


def group_sizes(plan: Plan) -> list[int]:
    groups = (step.rows for step in plan.sharing.steps)
    return [len(group.members) for group in groups if group is not None]


def widened(calls: Calls, x: Value) -> Value:
    """Return an inverted residual; its inner image is the peak."""
    return pointwise(calls, depthwise(calls, pointwise(calls, x, 48)), 8)


def smallest(program: PlanProgram, isa: Isa) -> Plan:
    """Return the plan with the least memory; its arena must not exceed the fastest plan's."""
    board = sample_board(isa=isa)
    small = make_plan(program, board, "memory")
    assert small.arena_bytes <= make_plan(program, board).arena_bytes
    return small


@pytest.mark.parametrize("isa", ISAS)
def test_around_state(isa: Isa) -> None:
    """One group reads a state, and another one makes its new value."""
    calls = Stateful()
    x, state = calls.input(1, 12, 12, 8), calls.state(1, 12, 12, 8)
    new = added(calls, widened(calls, x), state)
    calls.becomes(new)
    plan = smallest(calls.program(widened(calls, new)), isa)
    assert len(group_sizes(plan)) == 2
    assert plan.arena_bytes < 2 * 12 * 12 * 8 + 12 * 12 * 48


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("top", [0, 2])
def test_padding_is_a_member(isa: Isa, top: int) -> None:
    calls = Calls()
    y = padded(calls, pointwise(calls, calls.input(1, 12, 12, 8), 48), top, 1)
    graph = build_graph(calls.program(pointwise(calls, depthwise(calls, y), 8)), isa)
    group = Rows(graph).group(0, 4)
    assert group is not None
    assert [member.made for member in group.members] == [12, *[13 + top] * 3]
    assert group.slots[0] <= 2 and smallest(graph.program, isa).arena_bytes < 12 * 12 * 48


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("times", [2, 4])
@pytest.mark.parametrize("upsample", [transposed, bilinear])
def test_upsampling_is_a_member(isa: Isa, times: int, upsample: object) -> None:
    assert callable(upsample)
    calls = Calls()
    x = calls.input(1, 6, 6, 8)
    graph = build_graph(calls.program(pointwise(calls, upsample(calls, x, times), 4)), isa)
    group = Rows(graph).group(0, 2)
    assert group is not None and group.slots == (1, 0)
    assert [member.made for member in group.members] == [6 * times] * 2


@pytest.mark.parametrize("upsample", [transposed, bilinear])
def test_three_times_is_none(upsample: object) -> None:
    assert callable(upsample)
    calls = Calls()
    x = upsample(calls, calls.input(1, 6, 6, 8), 3)
    graph = build_graph(calls.program(pointwise(calls, x, 4)), "scalar")
    assert Rows(graph).group(0, 2) is None


@pytest.mark.parametrize("isa", ISAS)
def test_factors_of_all_rows(isa: Isa) -> None:
    """Squeeze-and-excitation has such factors. Inside a group they would not be ready in time."""
    calls = Calls()
    x, factors = calls.input(1, 12, 12, 8), calls.input(1, 1, 1, 48)
    y = scaled(calls, pointwise(calls, x, 48), factors)
    graph = build_graph(calls.program(pointwise(calls, y, 8)), isa)
    group = Rows(graph).group(0, 3)
    assert group is not None and group.slots == (1, 1, 0)
    assert factors.name in {value.name for value in group.step.reads}
    calls = Calls()
    x = calls.input(1, 12, 12, 8)
    y = scaled(calls, x, pointwise(calls, calls.reshape(x, 1, 1, 1, 12 * 12 * 8), 8))
    graph = build_graph(calls.program(pointwise(calls, y, 8)), isa)
    assert Rows(graph).group(0, 3) is None and Rows(graph).group(1, 3) is not None


@pytest.mark.parametrize("isa", ISAS)
def test_operands_that_change_by_rows_have_functions_of_their_own(isa: Isa) -> None:
    """One kernel: the first operand changes from row to row, the second, or both."""
    steps = []
    for sides in ("x by factors", "factors by x", "both"):
        calls = Calls()
        x, factors = calls.input(1, 12, 12, 8), calls.input(1, 1, 1, 48)
        wide = pointwise(calls, x, 48)
        a, b = {
            "x by factors": (wide, factors),
            "factors by x": (factors, wide),
            "both": (wide, wide),
        }[sides]
        y = pointwise(calls, scaled(calls, a, b), 8)
        group = Rows(build_graph(calls.program(y), isa)).group(0, 3)
        assert group is not None
        steps.append(group.step)
    functions = re.findall(
        r"^static pl_status (row_\w+)", RowGroups(steps).functions(), re.MULTILINE
    )
    assert len(functions) == len(set(functions))
    assert sum("mul" in function for function in functions) == 3


@pytest.mark.parametrize("isa", ISAS)
def test_delegates_are_none_and_others_are(isa: Isa) -> None:
    calls = Calls()
    x = calls.input(1, 12, 12, 8)
    y = pointwise(calls, depthwise(calls, pointwise(calls, x, 48)), 8)
    (z,) = calls.delegate([y], (1, 12, 12, 8))
    rows = Rows(build_graph(calls.program(widened(calls, z)), isa))
    assert rows.group(0, 3) is not None and rows.group(4, 7) is not None
    assert rows.group(2, 4) is None and rows.group(3, 5) is None
