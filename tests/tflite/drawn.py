# SPDX-License-Identifier: Apache-2.0
"""Properties of every .tflite file: random files, compared with TFLite Micro."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from aot.backends.tflite.exporting import to_tflite
from aot.errors import LoweringError
from aot.importers.tflite.importing import import_tflite
from aot.importers.tflite.testing.drawing import draw
from aot.importers.tflite.testing.oracle import ours, random_runs, tflm
from aot.lower_tflite import lower_tflite
from aot.plan.plan import make_plan
from aot.plan.pte import read_program
from aot.plan.testing import sample_board
from kernels.common.kernel import Isa

_OPS = 12
_RUNS = 3
_ISAS: tuple[Isa, ...] = ("scalar", "thumb1", "dsp", "mve")
Results = Sequence[Sequence[Any]]


def drawn(seed: int) -> bytes:
    """Return a random graph. One in four has int16 values."""
    return draw(np.random.default_rng(seed), np.int16 if seed % 4 == 3 else np.int8, _OPS)


def problems(data: bytes) -> list[str]:
    """Return the violated properties of a file; empty if all hold.

    The imported model has TFLite Micro's bits, before and after lowering. Each class of cores has a
    plan for it. Written again, the file has the same bits, or it is refused with reasons.
    """
    runs = random_runs(data, _RUNS)
    expected = tflm(data, runs)
    found = _different("imported", ours(data, runs), expected)
    lowered = lower_tflite(data)
    results = [lowered.reference([torch.from_numpy(x) for x in inputs]) for inputs in runs]
    found += _different("lowered", [[y.numpy() for y in run] for run in results], expected)
    program = read_program(lowered.pte)
    for isa in _ISAS:
        make_plan(program, sample_board(arena=(1 << 24,), weights=1 << 24, isa=isa))
    try:
        written = to_tflite(import_tflite(data))
    except LoweringError as error:
        return found if "no equivalent in a .tflite file" in str(error) else [*found, str(error)]
    return found + _different("written again", tflm(written, runs), expected)


def _different(what: str, own: Results, expected: Results) -> list[str]:
    pairs = [
        (run, index, a, b)
        for run, outputs in enumerate(zip(own, expected, strict=True))
        for index, (a, b) in enumerate(zip(*outputs, strict=True))
    ]
    return [
        f"{what}: output {index} of run {run} has not TFLite Micro's bits"
        for run, index, a, b in pairs
        if a.shape != b.shape or not np.array_equal(a, b)
    ]
