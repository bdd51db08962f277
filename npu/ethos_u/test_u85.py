# SPDX-License-Identifier: Apache-2.0
"""Tests of Ethos-U85 in the model with streams written by hand. //aot/backends/ethos_u and
//tests/ethos_u run compiled ones against TOSA's reference model.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from npu.ethos_u.npu_model import CONFIGS, EthosUError, EthosUModel
from npu.ethos_u.testing.payloads import COPY, changed, payload

Commands = list[tuple[str, int, int]]
Expected = Callable[[Any], Any]

_NAME = "ethos-u85-256"
_X = np.arange(-6, 18, dtype=np.int8)
_TRANSPOSES = {0: (0, 1, 2), 1: (1, 0, 2), 2: (0, 2, 1), 3: (1, 2, 0), 6: (2, 0, 1), 7: (2, 1, 0)}


def _run(commands: Commands, x: npt.NDArray[np.int8] = _X, **blocks: bytes) -> npt.NDArray[np.int8]:
    (y,) = EthosUModel(_NAME, check_hazards=True).run(
        payload(commands, CONFIGS[_NAME], blocks), [x]
    )
    return y.ravel()


def _with(*commands: tuple[str, int, int]) -> Commands:
    """COPY with these commands in place of its own, or before its operation."""
    names = {name for name, *_ in commands}
    kept = [command for command in COPY if command[0] not in names]
    return [*kept[:-2], *commands, *(c for c in kept[-2:] if c[0] not in names)]


def _elementwise(mode: int, *commands: tuple[str, int, int]) -> Commands:
    """x with a scalar."""
    stream = _with(
        ("SET_IFM_BROADCAST", 0, 0),
        ("SET_IFM_SCALE", 0x2000, 1),
        ("SET_IFM2_BROADCAST", 8, 0),
        ("SET_IFM2_PRECISION", 1, 0),
        ("SET_IFM2_ZERO_POINT", 0, 0),
        ("SET_IFM2_SCALE", 0x2000, 1),
        ("SET_OFM_SCALE", 0x2000, 1),
        *commands,
    )
    return [("OP_ELEMENTWISE", mode, 0) if c[0] == "OP_POOL" else c for c in stream]


@pytest.mark.parametrize("transpose", _TRANSPOSES)
@pytest.mark.parametrize("reverse", range(4))
def test_transposes_and_reversals(transpose: int, reverse: int) -> None:
    expected = _X.reshape(2, 3, 4)
    expected = np.flip(expected, reverse - 1) if reverse else expected
    expected = expected.transpose(_TRANSPOSES[transpose])
    _, width, depth = expected.shape
    commands = _with(
        ("SET_OFM_PRECISION", 0x101 | reverse << 9 | transpose << 11, 0),
        ("SET_OFM_HEIGHT0_M1", 9, 0),
        ("SET_OFM_HEIGHT1_M1", 9, 0),
        ("SET_OFM_WIDTH0_M1", 9, 0),
        ("SET_OFM_STRIDE_Y", 0, width * depth),
        ("SET_OFM_STRIDE_X", 0, depth),
    )
    np.testing.assert_array_equal(_run(commands), expected.ravel())


@pytest.mark.parametrize(
    ("rounding", "double", "shift", "expected"),
    [
        (1, 0, 1, lambda x: (x + 1) >> 1),
        (5, 0, 1, lambda x: x >> 1),
        (0, 0, 1, lambda x: (x + 1) >> 1),
        (0, 30, 2, lambda x: (x + 2 + np.where(x >= 0, 1, -1)) >> 2),
    ],
)
def test_rounding(rounding: int, double: int, shift: int, expected: Expected) -> None:
    commands = changed("SET_OFM_SCALE", shift | double << 6 | rounding << 13, 1)
    np.testing.assert_array_equal(_run(commands), expected(_X.astype(int)))


@pytest.mark.parametrize(
    ("mode", "scalar", "expected"),
    [
        (0, 3, lambda x: x * 3),
        (2, 3, lambda x: x - 3),
        (3, 3, lambda x: np.minimum(x, 3)),
        (6, 0, np.abs),
        (9, 2, lambda x: x << 2),
        (11, -3, lambda x: np.trunc(x / -3)),
        (16, 4, lambda x: np.where(x == 4, -1, 0)),
        (19, 4, lambda x: np.where(x > 4, -1, 0)),
        (34, 5, lambda x: x | 5),
        (42, 5, lambda x: x & ~5),
    ],
)
def test_elementwise(mode: int, scalar: int, expected: Expected) -> None:
    commands = _elementwise(mode, ("SET_OP_SCALAR", 0, scalar & 0xFFFFFFFF))
    np.testing.assert_array_equal(_run(commands), expected(_X.astype(int)).astype(np.int8))


def test_a_chain_goes_through_no_memory() -> None:
    first = _elementwise(
        1,
        ("SET_OP_SCALAR", 0, 100),
        ("SET_OFM_PRECISION", 0x8105, 0),  # chained, 32 bits
        ("SET_OFM_REGION", 3, 0),
        ("SET_ACTIVATION", 0x1000, 0),
    )
    second = _elementwise(
        2,
        ("SET_OP_SCALAR", 0, 99),
        ("SET_IFM_PRECISION", 0x8009, 0),
        ("SET_IFM_REGION", 3, 0),
    )
    np.testing.assert_array_equal(_run([*first[:-1], *second]), _X + 1)


@pytest.mark.parametrize(
    ("commands", "status", "message"),
    [
        ([("OP_BRANCH", 0, 0)], "ETHOS_U_ERROR_UNSUPPORTED", "branch"),
        (changed("SET_ACTIVATION", 10), "ETHOS_U_ERROR_UNSUPPORTED", "activation_function: 10"),
        (changed("SET_IFM_PRECISION", 0x4001), "ETHOS_U_ERROR_UNSUPPORTED", "storage: 1"),
        (changed("SET_IFM_PRECISION", 0x8001), "ETHOS_U_ERROR_NOT_SET", "chained storage: 0"),
        (changed("SET_OFM_SCALE", 2 << 13, 1), "ETHOS_U_ERROR_UNSUPPORTED", "round_mode: 2"),
        (changed("SET_OFM_PRECISION", 0x101 | 4 << 11), "ETHOS_U_ERROR_FIELD", "transpose: 4"),
        (_elementwise(5), "ETHOS_U_ERROR_UNSUPPORTED", "elementwise_mode: 5"),
        (
            changed("SET_ACC_FORMAT", 1 << 4),
            "ETHOS_U_ERROR_NOT_SET",
            "accumulators of another shape: 0",
        ),
        (
            _with(("SET_ACTIVATION", 0x1000, 0), ("SET_OFM_SCALE", 0, 9)),
            "ETHOS_U_ERROR_OVERFLOW",
            "result, beyond the OFM's type: 135",
        ),
    ],
)
def test_refusals(commands: Commands, status: str, message: str) -> None:
    with pytest.raises(EthosUError) as caught:
        _run(commands)
    assert caught.value.status == status
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("wide", "multiplier", "shift", "refused"),
    [(0, (1 << 31) - 1, 31, False), (0, 1 << 31, 31, True), (1, 1 << 15, 15, True)]
    + [(0, 1, 64, True), (1, (1 << 15) - 1, 15, False)],
)
def test_scale_records_fit_their_fields(
    wide: int, multiplier: int, shift: int, refused: bool
) -> None:
    record = struct.pack("<IIBB", 0, multiplier, shift, 0)
    if wide:
        record = struct.pack("<IHHBB", 0, 0, multiplier, shift, 0)
    commands = _with(
        ("SET_OFM_PRECISION", 1, 0),
        ("SET_ACC_FORMAT", wide, 0),
        ("SET_OFM_SCALE", 0x2000, 0),
        ("SET_SCALE_REGION", 0, 0),
        ("SET_SCALE_BASE", 0, 0),
        ("SET_SCALE_LENGTH", 0, 40),
    )
    if refused:
        with pytest.raises(EthosUError, match="beyond the width of its field"):
            _run(commands, weight_data=record * 4)
    else:
        np.testing.assert_array_equal(_run(commands, weight_data=record * 4), _X)
