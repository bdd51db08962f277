# SPDX-License-Identifier: Apache-2.0
"""Replay of wrong results that other stacks shipped in 2026: eleven classes, one row each.

Oracles: the float model and torchao's quantized graph. Boards compare the same table with the
reference, bit for bit (BUILD.bazel), on each core, on Ethos-U55 and on Ethos-U85.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from aot.artefact.vectors import make_vectors
from aot.lower import Lowered, lower
from aot.options import Measure, Quantize
from aot.plan.testing import sample_board
from aot.testing.lockstep import compare
from boards.board import Simulator
from tests.field_faults.table import CLASSES, QUANTIZATION, calibration, cases, factory
from tests.ops.bundle import as_model, as_tuple
from tests.ops.case import Case
from tests.random.on_host import Host
from tools.simulator.simulate import simulate

# All cases reach this signal to noise ratio in dB. A lost bias, slice or divisor costs more.
LEAST = 30.0
# Indices may differ where two float values are nearly equal.
EQUAL_INDICES = 0.9
# Steep functions in int16 are interpolated; a step of int8 has 256 such steps.
LARGEST = {"lut int16": 4}

# Ops of larger cases (on_npu.py) that run on the NPU, not on the core.
ON_NPU = {"add", "conv2d", "depthwise_conv2d", "lut", "mean_pool2d", "mul"}


@functools.cache
def samples() -> list[tuple[torch.Tensor, ...]]:
    return list(calibration())


@functools.cache
def lowered() -> Lowered:
    return lower(
        factory(),
        samples()[0],
        calibration=samples(),
        quantize=Quantize(quantization=QUANTIZATION),
        measure=Measure(per_op=False),
    )


@functools.cache
def results() -> dict[str, list[tuple[torch.Tensor, torch.Tensor]]]:
    """Return pairs by case: results of the reference and of the float model."""
    sample = samples()[-1]
    outputs = iter(lowered().dequantize_outputs(lowered().reference(sample)))
    inputs, bundle = iter(sample), factory()
    found = {}
    for case, part in zip(bundle.cases, bundle.parts.values(), strict=True):
        with torch.no_grad():
            exact = as_tuple(part(*(next(inputs) for _ in case.inputs)))
        found[case.name] = [(next(outputs), x) for x in exact]
    return found


def _is_near(actual: torch.Tensor, exact: torch.Tensor) -> bool:
    if not exact.is_floating_point():
        return bool((actual == exact).float().mean() >= EQUAL_INDICES)
    noise = float((actual - exact).norm())
    return noise == 0.0 or 20 * math.log10(float(exact.norm()) / noise) >= LEAST


@pytest.mark.parametrize("fault", CLASSES, ids=lambda make: make.__name__)
def test_results_stay_near_float(fault: Callable[[], Iterator[Case]]) -> None:
    names = [case.name for case in fault()]
    assert names
    assert [name for name in names if not all(_is_near(*pair) for pair in results()[name])] == []


def test_results_are_within_one_step_of_torchao() -> None:
    differences = compare(lowered(), samples()[:2]).by_op
    assert len(differences) > 10
    assert {
        op: difference.largest
        for op, difference in differences.items()
        if difference.largest > LARGEST.get(op, 1)
    } == {}


@pytest.mark.parametrize("npu", ["u55", "u85"])
def test_the_npu_runs_the_cases(npu: str) -> None:
    report = json.loads((Path(__file__).parent / f"table_{npu}.report.json").read_text())
    found = {row["op"].removeprefix("pl.") for row in report["ops"] if row["delegate"] is not None}
    assert ON_NPU - found == set()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("exit 0", "the last line is not PL:PASS"),
        ("echo PL:PASS; exit 3", "exit status 3"),
        ("echo PL:PASS; echo no device", "the last line is not PL:PASS"),
    ],
)
def test_a_simulator_that_ran_nothing_fails(tmp_path: Path, script: str, problem: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    board = dataclasses.replace(sample_board(), simulator=Simulator("native"))
    assert simulate(program, board, time_limit=20).problem.startswith(problem)


def test_a_check_with_another_expected_bit_fails(tmp_path: Path) -> None:
    """The comparison in the image notices each output: PL:PASS is earned."""
    few = [case for case in cases() if case.name in ("add_7", "groups_4_8_2")]
    make, inputs, _ = as_model(lambda: few)
    drawn = list(inputs())
    model = lower(make(), drawn[0], calibration=drawn, measure=Measure(per_op=False))
    host = Host(tmp_path, sanitized=False)
    host.check(model, drawn[:1])
    arrays = make_vectors(model, drawn[:1])
    outputs = [name for name in arrays if name.startswith("output")]
    assert len(outputs) == len(few)
    for name in outputs:
        wrong = {key: value.copy() for key, value in arrays.items()}
        wrong[name].flat[-1] ^= 1
        with pytest.raises(AssertionError, match="PL:FAIL"):
            host.check_pte(model.pte, wrong)
