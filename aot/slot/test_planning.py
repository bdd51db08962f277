# SPDX-License-Identifier: Apache-2.0
"""Plans that packages cannot hold: the message has op, place, reason and remedy."""

from dataclasses import replace

import pytest

from aot.plan.plan import make_plan
from aot.plan.program import PlanProgram
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Calls
from aot.plan.testing_convolutions import depthwise, pointwise
from aot.slot.planning import package_board, package_plan
from kernels.accesses import access_of
from kernels.common.access import Access, OutsideError
from kernels.common.kernel import KernelCall


def image(stride: int = 1) -> PlanProgram:
    """A convolution, one of each channel, and one more."""
    calls = Calls()
    y = depthwise(calls, pointwise(calls, calls.input(1, 12, 12, 8), 32), stride)
    program = calls.program(pointwise(calls, y, 8))
    named = (replace(c, id=str(i), module=f"blocks.{i}") for i, c in enumerate(program.calls))
    return replace(program, calls=tuple(named))


def refusal(program: PlanProgram, arena: int) -> str:
    with pytest.raises(OutsideError) as error:
        package_plan(program, package_board(sample_board(), arena))
    return str(error.value)


def test_the_same_plan_with_a_larger_arena() -> None:
    text = refusal(image(), 4000)
    assert "pl::depthwise_conv2d (op 1, blocks.1)" in text
    assert text.endswith("run row by row, which is code. Give it a larger arena")
    assert package_plan(image(), package_board(sample_board(), 20000)).sharing.steps


def test_a_slower_plan_without_rows() -> None:
    """On M0 the fastest plan of 7,000 bytes runs by rows; a package takes the next one."""
    board = package_board(sample_board(isa="thumb1"), 7000)
    assert any(step.rows for step in make_plan(image(), board).sharing.steps)
    assert not any(step.rows for step in package_plan(image(), board).sharing.steps)


def test_a_stride_that_the_check_cannot_hold() -> None:
    text = refusal(image(stride=300), 20000)
    assert "pl::depthwise_conv2d (op 1, blocks.1): stride_h is 300, not in [1, 255]. Split" in text


def test_a_kernel_without_a_map(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(call: KernelCall) -> Access | None:
        return None if "depthwise" in call.function else access_of(call)

    monkeypatch.setattr("aot.slot.planning.access_of", known)
    text = refusal(image(), 20000)
    assert text.count("\n") == 1
    assert "pl::depthwise_conv2d (op 1, blocks.1): " in text
    assert "Write kernels/depthwise_conv2d/access.py" in text
