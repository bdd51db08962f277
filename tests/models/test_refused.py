# SPDX-License-Identifier: Apache-2.0
"""Models too large for the micro:bit: the plan compiler reports this with the reason, and fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

COMPILER = "aot/plan/compile"
BOARD = "boards/microbit/microbit.json"
DOES_NOT_FIT = 3


def compile_for_microbit(model: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            COMPILER,
            f"--pte=aot/models/{model}/{model}.pte",
            f"--program=tests/models/{model}_plan.program",
            f"--board={BOARD}",
            f"--name={model}",
            *(f"--{kind}={folder}/plan.{kind}" for kind in ("source", "header", "json")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("model", "what", "where"),
    [
        ("resnet8", "activations and scratch memory are too large for ram", "pl::conv2d"),
        (
            "mobilenet_v1",
            "activations and scratch memory are too large for ram",
            "pl::conv2d",
        ),
        ("deep_autoencoder", "constants are too large for flash", "pl::linear"),
    ],
)
def test_does_not_fit(model: str, what: str, where: str, tmp_path: Path) -> None:
    result = compile_for_microbit(model, tmp_path)
    assert result.returncode == DOES_NOT_FIT, result.stderr
    first, *table = result.stderr.splitlines()
    assert first == f"{model} does not fit on microbit: {what}."
    words = [line.split()[0] for line in table]
    assert words[:3] == ["need", "have", "missing"]
    assert words[4:] in (["largest"] * 2, ["largest"] * 3)  # tensors in use at the peak
    assert where in table[3]
    assert not list(tmp_path.iterdir()), "nothing is left of a plan that does not fit"


@pytest.mark.parametrize("model", ["digits", "ds_cnn"])
def test_fits(model: str, tmp_path: Path) -> None:
    result = compile_for_microbit(model, tmp_path)
    assert result.returncode == 0, result.stderr
