# SPDX-License-Identifier: Apache-2.0
"""Additions with one scaled operand, in both roundings, against TOSA's reference model."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu.ethos_u.isa import COMMANDS, Family, value_name
from npu.ethos_u.npu_model import EthosUModel
from npu.ethos_u.payload import parse_payload
from tests.ethos_u.conformance.scaled_add import SHAPE, ScaledAdd, tosa
from tests.ethos_u.corpus.reference import Array, reference_outputs
from tests.ethos_u.corpus.vela import compile_payload

_TARGETS = (
    ("ethos-u55-32", "Sram_Only"),
    ("ethos-u55-128", "Shared_Sram"),
    ("ethos-u65-256", "Dedicated_Sram_384KB"),
)

_ADDITIONS = int(os.environ.get("ADDITIONS", "60"))  # random ones

# Finer outputs, as powers of two, are undefined in TOSA: their sums have more bits than the shift.
_FINEST = {8: -18, 16: -12}


def _registers(payload: bytes) -> dict[str, dict[str, int]]:
    """Return the register contents at the end of a stream."""
    words = parse_payload(payload).words
    registers: dict[str, dict[str, int]] = {}
    at = 0
    while at < len(words):
        command = COMMANDS[Family.U55][words[at] & 0xFFFF]
        second = words[at + 1] if command.has_payload else 0
        registers[command.name] = {f.name: f.value(words[at], second) for f in command.fields}
        at += 2 if command.has_payload else 1
    return registers


def _inputs(bits: int) -> list[Array]:
    """All pairs of 8-bit numbers; of 16 bits random ones, extreme ones and small ones."""
    if bits == 8:
        numbers = np.arange(-128, 128, dtype=np.int8)
        return [grid.reshape(SHAPE) for grid in np.meshgrid(numbers, numbers)]
    rng = np.random.default_rng(1)
    kinds = (
        rng.integers(-32768, 32768, SHAPE),
        rng.choice([-32768, -1, 0, 32767], SHAPE),
        rng.integers(-9, 10, SHAPE),
    )
    return [rng.choice(kinds).astype(np.int16) for _ in range(2)]


def _check(add: ScaledAdd, target: tuple[str, str]) -> dict[str, dict[str, int]]:
    """Compiles and runs an addition; its registers."""
    graph = tosa(add)
    payload, _ = compile_payload(graph, *target)
    inputs = _inputs(add.bits)
    model = EthosUModel(target[0], check_hazards=True)
    (actual,) = model.run(payload, inputs)
    (expected,) = reference_outputs(graph, inputs)
    np.testing.assert_array_equal(actual.ravel(), expected.ravel())
    assert [operation.name for operation in model.operations] == ["OP_ELEMENTWISE"]
    registers = _registers(payload)
    larger = 1 if add.scales[1] > add.scales[0] else 0
    assert registers["SET_IFM_PRECISION"]["scale_mode"] == (1 if larger == 1 else 2)
    for register, double in (
        ("SET_IFM_PRECISION", add.double[1 - larger]),
        ("SET_OFM_PRECISION", add.double[2]),
    ):
        name = value_name(Family.U55, "round_mode", registers[register]["round_mode"])
        assert name == ("DOUBLE" if double else "NATURAL")
    return registers


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("subtract", [False, True])
@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
def test_where_double_rounding_shows(
    bits: int, subtract: bool, double: bool, swapped: bool
) -> None:
    """Shifts of the operand beyond 31, and an output fine enough to show its last bits."""
    scales = (3.3 * 2.0**-26, 1.0) if swapped else (1.0, 3.3 * 2.0**-26)
    output = 2.0 ** _FINEST[bits]
    add = ScaledAdd(bits, subtract, (*scales, output), (0, 0, 0), (double,) * 3)
    registers = _check(add, _TARGETS[1])
    assert registers["SET_OPA_SCALE"]["shift"] > 31


@st.composite
def _adds(draw: st.DrawFn) -> ScaledAdd:
    bits = draw(st.sampled_from([8, 16]))
    smaller = 2.0 ** -draw(st.floats(0.01, 3) | st.floats(0.01, 24))
    output = 2.0 ** draw(st.floats(-2, 3) | st.floats(_FINEST[bits], 6))
    zero_points = st.integers(-128, 127) if bits == 8 else st.just(0)
    return ScaledAdd(
        bits,
        subtract=draw(st.booleans()),
        scales=(smaller, 1.0, output) if draw(st.booleans()) else (1.0, smaller, output),
        zero_points=draw(st.tuples(zero_points, zero_points, zero_points)),
        double=draw(st.just((True,) * 3) | st.tuples(st.booleans(), st.booleans(), st.booleans())),
    )


@settings(max_examples=_ADDITIONS, deadline=None, derandomize=True)
@given(_adds(), st.sampled_from(_TARGETS))
def test_random_scales(add: ScaledAdd, target: tuple[str, str]) -> None:
    _check(add, target)
