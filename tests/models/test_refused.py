# SPDX-License-Identifier: Apache-2.0
"""Models that do not fit on the micro:bit: the plan compiler says so, says why, and fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

COMPILER = "firmware/plan/compile"
BOARD = "boards/microbit/microbit.json"
DOES_NOT_FIT = 3


def compile_for_microbit(model: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            COMPILER,
            f"--pte=aot/models/{model}/{model}.pte",
            f"--board={BOARD}",
            "--name=plan",
            *(f"--{kind}={folder}/plan.{kind}" for kind in ("source", "header", "json")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


# Too much RAM, too much flash, or both: the table names the memory, and the op or the constants.
@pytest.mark.parametrize(
    ("model", "short_of", "names"),
    [
        ("ds_cnn", "ram", "pl::"),
        ("resnet8", "ram", "pl::conv2d"),
        ("mobilenet_v1", "ram", "pl::conv2d"),
        ("deep_autoencoder", "flash", "pl::linear"),
    ],
)
def test_does_not_fit(model: str, short_of: str, names: str, tmp_path: Path) -> None:
    result = compile_for_microbit(model, tmp_path)
    assert result.returncode == DOES_NOT_FIT, result.stderr
    text = result.stdout + result.stderr
    assert "does not fit" in text
    assert "microbit" in text
    assert short_of in text
    assert names in text
    for word in ("need", "have"):
        assert word in text
    assert "Traceback" not in text
    assert not (tmp_path / "plan.source").exists(), "nothing is left of a plan that does not fit"


def test_fits(tmp_path: Path) -> None:
    result = compile_for_microbit("digits", tmp_path)
    assert result.returncode == 0, result.stderr
