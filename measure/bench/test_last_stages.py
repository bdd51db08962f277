# SPDX-License-Identifier: Apache-2.0
"""Channels without a step function are counted one by one."""

import numpy as np
import pytest

from aot.plan.program import PlanProgram
from kernels.common.kernel import OpCall, Value
from kernels.testing.calls import STAGE, activation, constant
from measure.bench.last_stages import row, tally


def _linear(shift: list[int]) -> OpCall:
    channels = len(shift)
    arguments = {
        "input": activation(8, 16),
        "weight": constant(np.ones((channels, 16))),
        "bias": constant(np.zeros(channels), "int32"),
        "multiplier": constant(np.full(channels, 2**30 + 1), "int32"),
        "shift": constant(np.array(shift), "int32"),
        "input_zero_point": 0,
        **STAGE,
    }
    return OpCall("pl::linear", arguments, (activation(8, channels, name="y"),))


@pytest.mark.parametrize(
    ("shifts", "line"),
    [
        ([[-7, -8, -9]], ("net", "1", "3", "0.00%", "-")),
        # A factor as small as this has no constants, so its whole layer is plain.
        ([[-7, -20, -9, -8]], ("net", "1", "4", "25.00%", "1 pl_linear_s8")),
        ([[-7, -8], [-20, -20]], ("net", "2", "4", "50.00%", "1 pl_linear_s8")),
        ([], ("net", "0", "0", "0.00%", "-")),
    ],
)
def test_a_model_has_a_line(shifts: list[list[int]], line: tuple[str, ...]) -> None:
    calls = tuple(_linear(shift) for shift in shifts)
    assert row("net", tally(PlanProgram(calls, (), ()))) == line


def test_ops_without_factors_do_not_count() -> None:
    call = OpCall("pl::lut", {"input": activation(4)}, (Value("y", "int8", (4,)),))
    assert tally(PlanProgram((call,), (), ())).layers == 0
