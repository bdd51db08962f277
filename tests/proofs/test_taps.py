# SPDX-License-Identifier: Apache-2.0
"""Proofs on the machine code of kernels/common/gemm_taps_s8.h: last stages as step functions, for
all sums of a channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kernels.common.steps import Steps
from tests.proofs.channels import Channel, channels_of
from tests.proofs.formulas import Bits, counterexample
from tests.proofs.machine import Program, Way
from tests.proofs.specification import requantized, saturated

_PROGRAM = Program(Path("tests/proofs/functions.microbit.elf"))
_CALL, _ROWS, _WEIGHTS, _RESULTS = 0x2000_1000, 0x2000_2000, 0x2000_3000, 0x2000_4000
_TAPS = 16  # the fewest of a call
_STEP = 8  # from a result of the first row to that of the second
_LOW, _TOP = -128, 127


def _ways(name: str, bias: Bits, stage: Sequence[int]) -> list[Way]:
    """Return all ways through a call with zeros as taps, where the bias is the sum.

    Args:
        name: of the function.
        bias: of the only channel.
        stage: its other words.
    """
    call = [_ROWS, _ROWS + 4 * _TAPS, _WEIGHTS, _RESULTS, _RESULTS + 1, _STEP, _LOW ^ _TOP, _TOP]
    words: dict[int, Bits | int] = {_CALL + 4 * i: word for i, word in enumerate(call)}
    words |= {_ROWS + 4 * i: 0 for i in range(_TAPS)}
    words |= {_WEIGHTS + 4 + 4 * i: 0 for i in range(_TAPS // 2)}
    words[_WEIGHTS] = bias
    after = _WEIGHTS + 4 + 2 * _TAPS
    words |= {after + 4 * i: word for i, word in enumerate(stage)}
    ways = list(_PROGRAM.ways(name, [_CALL], words))
    assert ways
    return ways


def _wrong_step(channel: Channel) -> list[int] | None:
    """Return a sum with another result than the specification, None if there is none."""
    factor = np.array([channel.multiplier]), np.array([channel.shift])
    steps = Steps.of(*factor, channel.zero_point, _LOW, _TOP)
    if steps is None:
        return None
    total = Bits.variable("sum")
    bias = total - int(steps.first[0])
    stage = [int(c[0]) for c in (steps.limit, steps.high, steps.fine, steps.offset)]
    name = "pl_multiply_taps_s8"
    if steps.signed:
        name = "pl_multiply_signed_taps_s8"
        stage = [int(steps.turn[0]), -int(steps.less[0]), *stage]
    result = requantized(total, channel.multiplier, channel.shift) + channel.zero_point
    expected = saturated(result, _LOW, _TOP).part(0, 8)
    given = [total >= channel.low, total <= channel.high]
    for way in _ways(name, bias, stage):
        claim = way.memory[_RESULTS].equals(expected)
        if found := counterexample(claim, [*given, *way.conditions], [total]):
            return found
    return None


def test_last_stages_are_step_functions() -> None:
    channels = channels_of(Path("aot/models/digits/digits.pte").read_bytes())
    assert len(channels) > 20
    failed = {channel: found for channel in channels if (found := _wrong_step(channel))}
    assert failed == {}
