# SPDX-License-Identifier: Apache-2.0
"""Measurements of an own board correct estimates."""

import json
from pathlib import Path
from typing import Any

import pytest

from tools.simulator.blocks import CyclesError
from tools.simulator.own_board import find_calibration, own_calibration, ratio, with_measurement
from tools.simulator.silicon import calibration

Fields = dict[str, Any]


def _profile(name: str, key: str, cycles: list[int], **more: Any) -> Fields:
    steps = [
        {"step": i, "id": str(i), "op": "pl::add", "function": "f", "plan": name, key: count}
        for i, count in enumerate(cycles)
    ]
    return {"name": name, "board": "rig", "core": "cortex-m4+nofp", "steps": steps} | more


def _measured(name: str, *cycles: int) -> Fields:
    return _profile(name, "cycles", list(cycles))


_ESTIMATED = _profile(
    "sim", "cycles_estimate", [1000, 3000], estimated_for={"chip": "STM32L4R5"}, board="mps2"
)


def test_one_measurement() -> None:
    board = with_measurement({}, _measured("a", 1400, 3400), _ESTIMATED, 64_000_000)
    found, chip = own_calibration("cortex-m4", board), calibration("cortex-m4")
    assert found.factor == pytest.approx(1.2 * chip.factor) and found.rows == 1
    assert found.error == chip.error and found.table == chip.table
    of = found.of(64_000)
    assert of is not None and of.milliseconds == pytest.approx(1) and of.microjoules is None
    assert found.chip is not None and found.chip.name == "rig"
    assert found.chip.table == chip.table


def test_more_measurements_have_an_error_of_their_own(tmp_path: Path) -> None:
    board: Fields = {}
    for name, of in (("a", 1000), ("b", 1100), ("b", 1210)):  # b is measured again
        board = with_measurement(board, _measured(name, of, 3 * of), _ESTIMATED, 64_000_000)
    found = own_calibration("cortex-m4", board)
    assert found.rows == 2 and found.error == pytest.approx(0.21)
    file = tmp_path / "my_board.json"
    file.write_text(json.dumps(board))
    assert find_calibration("cortex-m4", str(file)) == found
    assert find_calibration("cortex-m4", "") == calibration("cortex-m4")


def test_a_core_without_measured_chips() -> None:
    estimated = _profile("sim", "cycles_estimate", [1000, 3000]) | {"core": "cortex-m0"}
    board: Fields = {}
    errors = []
    for name, of in (("a", 1000), ("b", 1100)):
        measured = _measured(name, of, 3 * of) | {"core": "cortex-m0"}
        board = with_measurement(board, measured, estimated, 16_000_000)
        errors.append(own_calibration("cortex-m0", board).error)
    assert errors == [None, pytest.approx(0.1)]


def test_what_does_not_fit() -> None:
    with pytest.raises(CyclesError, match="no cycles of its steps. Build with --//firmware"):
        ratio(_ESTIMATED, _ESTIMATED)
    with pytest.raises(CyclesError, match="a and sim differ in core, kernels or steps"):
        ratio(_measured("a", 1), _ESTIMATED)
    other = _ESTIMATED | {"core": "cortex-m33"}
    with pytest.raises(CyclesError, match="differ in core"):
        ratio(_measured("a", 1, 2), other)
    board = with_measurement({}, _measured("a", 1, 2), _ESTIMATED, 64_000_000)
    with pytest.raises(CyclesError, match="of something else than .*'clock_hz': 1,"):
        with_measurement(board, _measured("a", 1, 2), _ESTIMATED, 1)
    with pytest.raises(CyclesError, match="rig has a cortex-m4, not a cortex-m33"):
        own_calibration("cortex-m33", board)
    with pytest.raises(CyclesError, match="none.json: .*No such file"):
        find_calibration("cortex-m4", "none.json")
