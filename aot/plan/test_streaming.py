# SPDX-License-Identifier: Apache-2.0
"""Row-streamed inputs: the part of them in memory, and the refusal of plans with less."""

import pytest

from aot.plan import emit_c
from aot.plan.plan import Plan, make_plan, ports
from aot.plan.program import PlanProgram
from aot.plan.report import plan_json, plan_text
from aot.plan.row_group import RowGroup
from aot.plan.streaming import INPUT
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Calls
from aot.plan.testing_convolutions import added, depthwise, pointwise
from kernels.common.kernel import KernelError

_WIDTH = 12 * 4


def program(stride: int = 1) -> PlanProgram:
    """Return a program with rows of 48 bytes, three of them needed at a time."""
    calls = Calls()
    return calls.program(pointwise(calls, depthwise(calls, calls.input(1, 16, 12, 4), stride), 2))


def planned(optimize: str = "memory", streamed: bool = True, stride: int = 1) -> Plan:
    return make_plan(program(stride), sample_board(), optimize, streamed)


def group_of(plan: Plan) -> RowGroup:
    group = plan.sharing.steps[0].rows
    assert group is not None and group.members[0].step.kernel.function == INPUT
    return group


def test_rows_that_are_needed_are_in_a_ring() -> None:
    whole, by_rows = planned(streamed=False), planned()
    group = group_of(by_rows)
    assert group.slots[0] == 3
    assert by_rows.arena_bytes < 16 * _WIDTH < whole.arena_bytes


def test_all_of_them_where_there_is_memory() -> None:
    """The fastest plan reads the whole input first."""
    group = group_of(planned("speed"))
    assert (len(group.members), group.slots, group.calls) == (1, (0,), 16)


def test_rows_that_nobody_needs_are_not_asked_for() -> None:
    calls = Calls()
    y = depthwise(calls, calls.input(1, 16, 12, 4), stride=2, size=1)
    plan = make_plan(calls.program(y), sample_board(), "memory", streamed=True)
    assert group_of(plan).members[0].made == 15


def test_what_is_said() -> None:
    plan = planned()
    assert ports(plan)[0].endswith(", by rows")
    port = plan_json(plan, "net")["inputs"][0]
    assert port["by_rows"] and "offset" not in port
    assert "input" in plan_text(plan, "net")
    text = emit_c.source(plan, "net", "net.h")
    assert "input_rows = {pl_input_rows_copy, &row_source, 48};" in text
    assert "576},\n     NULL}," not in text
    assert "768},\n     NULL}," in text
    for other in ("speed", "memory"):
        assert "row_source" not in emit_c.source(planned(other, streamed=False), "net", "net.h")


def test_an_input_that_is_an_output_has_a_place_there() -> None:
    """A model without steps: the row-streamed input is the whole result."""
    calls = Calls()
    plan = make_plan(calls.program(calls.input(1, 16, 12, 4)), sample_board(), streamed=True)
    text = emit_c.source(plan, "net", "net.h")
    inputs, outputs = text.split("static const pl_tensor outputs")
    assert "768},\n     NULL}," in inputs and "NULL}," not in outputs
    assert plan.arena_bytes == 768


def test_two_inputs_or_one_row_are_refused() -> None:
    calls = Calls()
    x, y = calls.input(1, 4, 4, 4), calls.input(1, 4, 4, 4)
    with pytest.raises(KernelError, match="has 2 inputs"):
        make_plan(calls.program(added(calls, x, y)), sample_board(), streamed=True)
    calls = Calls()
    x = calls.input(1, 1, 1, 4)
    with pytest.raises(KernelError, match=r"\[1, 1, 1, 4\] is one row"):
        make_plan(calls.program(pointwise(calls, x, 4)), sample_board(), streamed=True)
