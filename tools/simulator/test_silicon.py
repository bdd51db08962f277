# SPDX-License-Identifier: Apache-2.0
"""Factors of measured chips, and the errors promised by docs/speed.md."""

from collections import Counter

import pytest

from tools.simulator.blocks import CyclesError
from tools.simulator.silicon import (
    Estimate,
    Row,
    calibration,
    chips,
    error_of,
    percent,
    report,
    rows,
)
from tools.simulator.timing import TABLES

_GOAL = {"cortex-m4": 0.10, "cortex-m33": 0.10, "cortex-m55": 0.15}


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.chip}-{row.name}")
def test_rows_are_estimated_by_the_others_of_their_chip(row: Row) -> None:
    core = chips()[row.chip].core
    error = calibration(core, row.chip).error
    assert error is not None and abs(error_of(row)) <= error < _GOAL[core]


def test_measurements_by_core() -> None:
    found = Counter(chips()[row.chip].core for row in rows())
    assert found == {"cortex-m4": 8, "cortex-m33": 8, "cortex-m55": 11}


def test_a_chip() -> None:
    found = calibration("cortex-m4")
    assert found.chip is not None and found.chip.name == "STM32L4R5" and found.rows == 8
    assert found.factor == pytest.approx(1, abs=0.02)
    assert found.table["flash"] == 1.5 and TABLES["cortex-m4"].items() <= found.table.items()
    of = found.of(12e6)
    assert of is not None and of.microjoules is not None
    assert of.milliseconds == pytest.approx(100)
    assert of.microjoules == pytest.approx(12 * 278.5)
    assert of.energy_error == pytest.approx(of.error + 3.5 / 278.5)


def test_a_chip_without_times_has_the_factor_of_its_core_and_a_wider_band() -> None:
    nrf, ra, u575 = (calibration("cortex-m33", name) for name in ("nRF5340", "RA6M4", "STM32U575"))
    assert nrf.error is not None and u575.error is not None
    assert u575.factor == pytest.approx((nrf.factor * ra.factor) ** 0.5)
    assert u575.error > ra.factor / nrf.factor - 1 > nrf.error
    of = nrf.of(128e3)
    assert of == Estimate(1, nrf.error, None, nrf.error)


def test_a_core_without_measurements() -> None:
    found = calibration("cortex-m0plus")
    assert (found.chip, found.factor, found.error) == (None, 1, None)
    assert found.of(1000) is None


def test_unknown_chips() -> None:
    with pytest.raises(CyclesError, match="cortex-m33 is called STM32L4R5; known: nRF5340, RA6M4"):
        calibration("cortex-m33", "STM32L4R5")
    with pytest.raises(CyclesError, match="cortex-m3 is called x; known: none"):
        calibration("cortex-m3", "x")


def test_report() -> None:
    lines = [line.split() for line in report().splitlines()]
    assert lines[0] == ["chip", "core", "rows", "factor", "error"]
    assert lines[1][:4] == ["STM32L4R5", "cortex-m4", "8", "0.995"]
    assert sum(len(line) > 5 and line[-1].startswith("EK-RA6M4") for line in lines) == 4


def test_errors_are_rounded_up() -> None:
    assert percent(0.0701) == "± 8 %"
