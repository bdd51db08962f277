# SPDX-License-Identifier: Apache-2.0
"""Corrections of estimates by measurements on an own board (own_board_main.py)."""

import dataclasses
import json
import os
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from tools.simulator.blocks import CyclesError
from tools.simulator.silicon import Calibration, calibration
from tools.simulator.timing import plain_core

Fields = dict[str, Any]

_STEP = ("step", "id", "op", "function")


def ratio(measured: Fields, estimated: Fields) -> float:
    """Return measured over estimated cycles of all steps of two profiles.

    Raises:
        CyclesError: the profiles have no cycles, or are of different models.
    """
    counts, estimates = (
        {tuple(step[key] for key in _STEP): step.get(cycles) for step in profile["steps"]}
        for profile, cycles in ((measured, "cycles"), (estimated, "cycles_estimate"))
    )
    if not counts or None in counts.values() or None in estimates.values():
        raise CyclesError(
            "a profile has no cycles of its steps. Build with --//firmware/runtime:profile_steps"
        )
    if counts.keys() != estimates.keys() or plain_core(measured["core"]) != plain_core(
        estimated["core"]
    ):
        raise CyclesError(
            f"{measured['name']} and {estimated['name']} differ in core, kernels or steps"
        )
    return float(sum(counts.values()) / sum(estimates.values()))


def with_measurement(board: Fields, measured: Fields, estimated: Fields, clock_hz: int) -> Fields:
    """Return the file of a board with one more measurement; `board` may be empty.

    Raises:
        CyclesError: see ratio(), or the file is of another core, clock or chip.
    """
    chip = estimated.get("estimated_for", {}).get("chip", "")
    of = {
        "name": measured["board"],
        "core": plain_core(measured["core"]),
        "clock_hz": clock_hz,
        "chip": chip,
    }
    if board and board != of | {"ratios": board.get("ratios")}:
        raise CyclesError(f"the file has measurements of something else than {of}")
    ratios = dict(board.get("ratios", {}))
    ratios[measured["name"]] = ratio(measured, estimated)
    return of | {"ratios": ratios}


def own_calibration(core: str, board: Fields) -> Calibration:
    """Return the calibration of a core by a board's file.

    The error is the largest of a measurement if the others give the factor; with only one, it is
    that of the chip.

    Raises:
        CyclesError: the board has another core.
    """
    if board["core"] != core:
        raise CyclesError(f"{board['name']} has a {board['core']}, not a {core}")
    base = calibration(core, board["chip"])
    ratios = list(board["ratios"].values())
    error = base.error
    if len(ratios) > 1:
        others = (geometric_mean(ratios[:i] + ratios[i + 1 :]) for i in range(len(ratios)))
        error = max(abs(o / own - 1) for o, own in zip(others, ratios, strict=True))
    return dataclasses.replace(
        base,
        chip=base.own_chip(board["name"], core, board["clock_hz"]),
        factor=base.factor * geometric_mean(ratios),
        error=error,
        rows=len(ratios),
    )


def find_calibration(core: str, chip: str) -> Calibration:
    """Return the calibration for the name of a chip, or for a board's file (*.json).

    Raises:
        CyclesError: the chip or file is unknown, or of another core.
    """
    if not chip.endswith(".json"):
        return calibration(core, chip)
    return own_calibration(core, read_json(chip))


def path_of(name: str) -> Path:
    """Return a path relative to the working folder of `bazel run`."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), name)


def read_json(name: str) -> Fields:
    """Return the contents of a file.

    Raises:
        CyclesError: it cannot be read.
    """
    try:
        found: Fields = json.loads(path_of(name).read_text())
    except (OSError, ValueError) as error:
        raise CyclesError(f"{name}: {error}") from error
    return found
