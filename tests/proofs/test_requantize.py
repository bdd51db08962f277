# SPDX-License-Identifier: Apache-2.0
"""Proofs on linked machine code: each channel of each layer is requantized as specified.

A proof covers all sums that the channel's weights admit, for all int8 inputs. Bazel sets BOARD and
MODELS.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.proofs.channels import Channel, channels_of
from tests.proofs.formulas import Bits, choose, counterexample
from tests.proofs.machine import Program
from tests.proofs.specification import half_away, requantized, saturated

BOARD = os.environ["BOARD"]
MODELS = os.environ["MODELS"].split()
HAS_DSP = ("mps2_an386",)  # Cortex-M4
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1


@functools.cache
def program() -> Program:
    return Program(Path(f"tests/proofs/functions.{BOARD}.elf"))


def wrong(
    name: str,
    arguments: Sequence[Bits | int],
    expected: Bits,
    given: Sequence[Bits],
) -> list[int] | None:
    """Return arguments for which a function has another result than expected; None if proved."""
    variables = [a for a in arguments if isinstance(a, Bits)]
    ways = list(program().ways(name, arguments))
    assert ways
    for way in ways:
        claim = way.result.equals(expected.part(0, 32))
        found = counterexample(claim, [*given, *way.conditions], variables)
        if found is not None:
            return found
    return None


def _wrong_channel(channel: Channel) -> dict[str, list[int]]:
    """Return a counterexample by function."""
    x = Bits.variable("sum")
    given = [x >= channel.low, x <= channel.high]
    factor = channel.multiplier, channel.shift
    expected = requantized(x, *factor)
    found = {"requantize": wrong("requantize", (x, *factor, 0), expected, given)}
    if channel.right is not None:
        numbers: list[Bits | int] = [
            x,
            channel.multiplier,
            channel.right,
            2 * channel.zero_point + 1,
        ]
        moved = expected + channel.zero_point
        found["requantize_down"] = wrong("requantize_down", numbers, moved, given)
        if BOARD in HAS_DSP:
            narrowed = saturated(moved, -128, 127)
            found["narrow_down"] = wrong("narrow_down", numbers, narrowed, given)
    return {name: sums for name, sums in found.items() if sums is not None}


@pytest.mark.parametrize("model", MODELS)
def test_every_channel_is_requantized_as_specified(model: str) -> None:
    channels = channels_of(Path(f"aot/models/{model}/{model}.pte").read_bytes())
    assert len(channels) > 20
    failed = {channel: found for channel in channels if (found := _wrong_channel(channel))}
    assert failed == {}
    print(f"{BOARD} {model}: {len(channels)} factors proved")


def test_shifts_are_right_for_all_values() -> None:
    h = Bits.variable("h")
    given = [h > _INT32_MIN, h < _INT32_MAX]
    for right in range(1, 32):
        expected = half_away(h.signed(64), right)
        assert wrong("shift_right_rounding", [h, right, 0, 0], expected, given) is None


def test_the_solver_finds_the_value_outside_the_bounds() -> None:
    h = Bits.variable("h")
    expected = half_away(h.signed(64), 2)
    assert wrong("shift_right_rounding", [h, 2, 0, 0], expected, []) == [_INT32_MIN]


def test_results_are_narrowed_for_all_values() -> None:
    x, zero_point, low, high = arguments = [Bits.variable(name) for name in "xzlh"]
    given = [low >= -128, low <= high, high <= 127, zero_point >= -128, zero_point <= 127]
    total, least, most = x.signed(64) + zero_point.signed(64), low.signed(64), high.signed(64)
    expected = choose(total < least, least, choose(total > most, most, total))
    assert wrong("narrow", arguments, expected, given) is None
