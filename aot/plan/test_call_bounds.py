# SPDX-License-Identifier: Apache-2.0
"""Plans with calls, or calls of rows, whose dims their functions do not support."""

from dataclasses import replace

import pytest

from aot.plan import call_bounds
from aot.plan.call_bounds import check_calls
from aot.plan.check import PlanError
from aot.plan.graph import Step
from aot.plan.plan import make_plan
from aot.plan.program import PlanProgram
from aot.plan.row_group import Member, RowGroup, RowInput
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Calls
from aot.plan.testing_convolutions import depthwise, pointwise
from kernels.accesses import accesses
from kernels.common.kernel import KernelCall, OpCall, Value
from kernels.common.rows import ByRows, Taps


def mean_step(function: str, by_rows: bool) -> Step:
    """A mean of one value with 32 outputs, or its two rows of 16."""
    x, y = Value("x", "int8", (2, 16, 1)), Value("y", "int8", (2, 16))
    zeros = (0, 0, 0)
    dims = {"kept": (1, 1, 32), "kept_stride": (0, 0, 1), "reduced": (1, 1, 1)}
    rows = ByRows(2, {"input": Taps(2)}, {"kept": (1, 1, 16)})
    kernel = KernelCall(
        function,
        "kernels/mean/mean.h",
        {},
        {**dims, "reduced_stride": zeros},
        {"input": x, "output": y},
        rows=rows,
    )
    step = Step(OpCall("pl::mean", {}, (y,)), kernel, (x,), (y,))
    if not by_rows:
        return step
    member = Member(step, rows, (RowInput("input", x, Taps(2), None),), True, 2)
    return replace(step, rows=RowGroup((member,)))


def test_rows_for_which_the_function_is_wrong() -> None:
    """A function for at least 32 outputs accesses memory before its operands if there are 16."""
    check_calls([mean_step("pl_mean_columns_s8", by_rows=False)], "mve")
    check_calls([mean_step("pl_mean_vectors_s8", by_rows=True)], "mve")
    with pytest.raises(PlanError, match=r"step 1, pl_mean_columns_s8: .*kept\[2\] >= 32"):
        check_calls([mean_step("pl_mean_columns_s8", by_rows=True)], "mve")


def images() -> PlanProgram:
    calls = Calls()
    x = calls.input(1, 12, 12, 8)
    return calls.program(pointwise(calls, depthwise(calls, pointwise(calls, x, 96)), 24))


@pytest.mark.parametrize("optimize", ["speed", "memory"])
def test_every_plan_is_checked(monkeypatch: pytest.MonkeyPatch, optimize: str) -> None:
    plan = make_plan(images(), sample_board(), optimize)
    assert any(step.rows is not None for step in plan.sharing.steps) == (optimize == "memory")
    maps = {
        f: replace(a, needs=("output_w == 0",)) if "output_w" in a.dims else a
        for f, a in accesses().items()
    }
    monkeypatch.setattr(call_bounds, "access_of", lambda call: maps[call.function])
    with pytest.raises(PlanError, match="output_w == 0"):
        make_plan(images(), sample_board(), optimize)
