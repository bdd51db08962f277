# SPDX-License-Identifier: Apache-2.0
"""The decoder's command line: saved files, exit status and messages."""

import functools
from pathlib import Path

import pytest
from absl import flags
from absl.testing import flagsaver

from aot.plan import decode
from aot.plan.program import load_program
from aot.plan.testing import BAD_PTES, Network, export_pte


@functools.cache
def good_pte() -> bytes:
    network = Network()
    return export_pte(network, [network.example()])


def run(pte: Path, output: Path) -> int:
    if not flags.FLAGS.is_parsed():
        flags.FLAGS.mark_as_parsed()
    with flagsaver.flagsaver(pte=str(pte), output=str(output)):
        return decode.main(["decode"])


def test_keeps_the_program(tmp_path: Path) -> None:
    (tmp_path / "model.pte").write_bytes(good_pte())
    outputs = [tmp_path / "first", tmp_path / "second"]
    for output in outputs:
        assert run(tmp_path / "model.pte", output) == 0
    assert [call.op for call in load_program(outputs[0]).calls][-1] == "pl::linear"
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize("kind", BAD_PTES)
def test_bad_pte(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    change, message = BAD_PTES[kind]
    (tmp_path / "model.pte").write_bytes(change(good_pte()))
    assert run(tmp_path / "model.pte", tmp_path / "model.program") == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "model.program").exists()


def test_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "no.pte", tmp_path / "model.program") == 2
    assert "no.pte" in capsys.readouterr().err
