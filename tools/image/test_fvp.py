# SPDX-License-Identifier: Apache-2.0
"""Arm's model of a board, played by a stand-in."""

import json
from pathlib import Path

import pytest
from absl.testing import flagsaver

from tools.image.fvp import main

_BOARD = "boards/corstone300_ethos_u55/corstone300_ethos_u55.json"
_SIZE = {
    "name": "app",
    "board": "corstone300_ethos_u55",
    "core": "cortex-m55",
    "memories": [{"name": "itcm", "kind": "flash", "size": 524288, "used": 131072}],
    "stack": {"size": 4096, "bound": 700},
}
_MODEL = "FVP_Corstone_SSE-300_Ethos-U55"


def _run(folder: Path, script: str, board: str = _BOARD, fvp: str = "", more: str = "") -> int:
    """Run with a stand-in in the PATH; it records its arguments and then runs the script."""
    model = folder / _MODEL
    if script:
        model.write_text(f'#!/bin/sh\necho "$@" >{folder}/told\n{script}\n')
        model.chmod(0o755)
    size = folder / "size.json"
    size.write_text(json.dumps(_SIZE))
    facts = folder / "facts.json"
    facts.write_text('{"agreement": 0.99}')
    with flagsaver.as_parsed(board=board, size=str(size), facts=[str(facts)], silence="2", fvp=fvp):
        return main(["fvp", "app.elf", *more.split()])


@pytest.fixture(autouse=True)
def _path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "echo Fast Models; echo PL:STAT test images 450; echo PL:PASS; sleep 60"
    assert _run(tmp_path, script, more="--stat") == 0
    told = (tmp_path / "told").read_text().split()
    assert "ethosu.num_macs=128" in told and "cpu0.semihosting-enable=1" in told
    assert told[told.index("-a") + 1] == "app.elf" and told[-1] == "--stat"
    shown = capsys.readouterr().out
    assert "Fast Models\n" in shown and "app on corstone300_ethos_u55 (cortex-m55)\n" in shown
    assert "99.00%" in shown and "450" in shown and "25.0%" in shown and "instructions" not in shown


def test_the_model_has_a_python_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", "ours")
    assert _run(tmp_path, 'echo "modules: $PYTHONPATH."; echo PL:PASS') == 0
    assert "modules: .\n" in capsys.readouterr().out


def test_a_run_that_ends_badly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(tmp_path, "echo PL:FAIL outputs differ") == 1
    assert "app.elf: PL:FAIL outputs differ" in capsys.readouterr().err
    assert _run(tmp_path, "echo hello; exit 3") == 1
    assert "app.elf: the model ended, and no PL:PASS before that" in capsys.readouterr().err
    assert _run(tmp_path, "echo hello; sleep 60") == 1
    assert "nothing came for 2 s, and no PL:PASS before that" in capsys.readouterr().err


def test_where_there_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(tmp_path, "") == 2
    told = capsys.readouterr().err
    assert _MODEL in told and "free Ecosystem FVP" in told and "--fvp=" in told
    assert _run(tmp_path, "", fvp="/no/such/model") == 2
    assert "/no/such/model is not installed" in capsys.readouterr().err
    assert _run(tmp_path, "", board="boards/microbit/microbit.json") == 2
    assert "the board microbit has no `fvp`" in capsys.readouterr().err
