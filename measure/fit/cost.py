# SPDX-License-Identifier: Apache-2.0
"""Costs of a lowered model on a board: exact bytes of its plan, and estimated time.

Time is multiply-accumulates, and elements of other ops, times the rates of layers of the bench
(measure/bench/baseline.json). The layers differ, so it may be off by half.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aot.plan.plan import DoesNotFitError, make_plan, weights_bytes
from aot.plan.pte import read_program
from boards.board import Board

_BASELINE = Path(__file__).parent.parent / "bench" / "baseline.json"

_LAYERS = {
    "int8": ("conv 3x3, 32x32x16 to 16", 32 * 32 * 16 * 144),
    "int16": ("conv int16 3x3, 8x8x16 to 16", 8 * 8 * 16 * 144),
    "int4": ("linear w4 128 to 128 by 32", 128 * 128),
    "float32": ("convolution_f32 5x6x4 to 8", 5 * 6 * 8 * 36),
}
"""Layers of the bench with their multiply-accumulates, by precision."""

_ELEMENTS = ("add 16384", 16384)
"""The same for ops without products, with its elements."""

_CORES = {
    "scalar": "cortex-m3",
    "thumb1": "cortex-m0",
    "dsp": "cortex-m4",
    "mve": "cortex-m55",
}
"""Core of the bench for a class of kernels."""

_CYCLES = {
    "cortex-m0": 1.43,
    "cortex-m0plus": 1.43,
    "cortex-m3": 1.82,
    "cortex-m4": 1.55,
    "cortex-m7": 0.99,
    "cortex-m33": 1.34,
    "cortex-m55": 1.35,
    "cortex-m85": 1.67,
}
"""Cycles of an instruction: of resnet8 in docs/speed.md."""


@dataclass(frozen=True)
class FitCost:
    """Costs of one inference.

    Attributes:
      flash: bytes of the model's constants.
      ram: bytes of the arena.
      instructions: estimated.
      ms: estimated; None if the core or its clock is not known.
    """

    flash: int
    ram: int
    instructions: int
    ms: float | None


class FitCosts:
    """Computes costs of models on one board.

    Args:
      board: the board; its memories are the upper limit.
      clock_hz: of its core; 0: not known.
      optimize: of the plan.
    """

    def __init__(self, board: Board, clock_hz: int, optimize: str = "speed") -> None:
        self._board = board
        self._optimize = optimize
        counts = json.loads(_BASELINE.read_text())[_CORES[board.isa]]
        self._rates = {kind: counts[name] / macs for kind, (name, macs) in _LAYERS.items()}
        self._rate = counts[_ELEMENTS[0]] / _ELEMENTS[1]
        cycles = _CYCLES.get(board.core.partition("+")[0])
        self._seconds = cycles / clock_hz if cycles and clock_hz else None

    def of(self, pte: bytes, report: Mapping[str, Any]) -> FitCost | None:
        """Return the costs of a model; None if it does not fit on the board."""
        try:
            plan = make_plan(read_program(pte), self._board, self._optimize)
        except DoesNotFitError:
            return None
        count = round(sum(map(self._instructions, report["ops"])))
        ms = None if self._seconds is None else count * self._seconds * 1e3
        return FitCost(weights_bytes(plan.constants), plan.arena_bytes, count, ms)

    def _instructions(self, op: Mapping[str, Any]) -> float:
        if op["delegate"] is not None:  # on an NPU
            return 0.0
        kind = "int4" if op["op"] == "pl.linear_w4" else op["precision"]
        elements = sum(math.prod(output["shape"]) for output in op["outputs"])
        return float(op["macs"] * self._rates.get(kind, self._rates["int8"])) or (
            elements * self._rate
        )
