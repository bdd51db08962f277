# SPDX-License-Identifier: Apache-2.0
"""The boundary around lowering: a fault has a place and a bundle; users' own errors
pass unchanged.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

from aot.accept.internal_error import InternalError
from aot.errors import LoweringError
from aot.lower import lower
from aot.lower_tflite import lower_tflite
from aot.options import Quantize
from aot.testing.fixtures import samples

_SECRET = 4.0625


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)
        nn.init.constant_(self.layer.weight, _SECRET)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.layer(x))


def network() -> nn.Module:
    return Network().eval()


@pytest.fixture
def bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_fault_has_op_line_and_bundle(bundles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aot.support.support.rule_for", None)
    data = samples((2, 8))
    with pytest.raises(InternalError) as raised:
        lower(network(), data[0], calibration=data, quantize=Quantize(quantization="int16"))
    error = raised.value
    assert not isinstance(error, LoweringError)
    assert isinstance(error.__cause__, TypeError)
    assert error.bundle.parent == bundles
    text = str(error)
    assert "ends in TypeError: 'NoneType' object is not callable\n    at aten.linear" in text
    assert re.search(r", layer \(Linear\), test_internal_error.py:\d+ in forward: .*tanh", text)
    assert f"This is a fault of Pilotlight, not of the model. Send {error.bundle}: " in text
    with zipfile.ZipFile(error.bundle) as archive:
        told = archive.read("fault.txt").decode()
        content = archive.read("program.pt2")
    for part in (
        f"torch {torch.__version__}",
        "quantization: int16",
        "float32[2, 8]",
        "aot/support/support.py",
    ):
        assert part in told
    program = torch.export.load(io.BytesIO(content))
    assert program.state_dict["layer.weight"].shape == (4, 8)
    assert all((value == 1).all() for value in program.state_dict.values())
    assert torch.tensor(_SECRET).numpy().tobytes() not in content


def test_a_program_keeps_its_weights(bundles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aot.support.support.rule_for", None)
    data = samples((2, 8))
    program = torch.export.export(network(), data[0])
    with pytest.raises(InternalError):
        lower(program, data[0], calibration=data)
    assert (program.state_dict["layer.weight"] == _SECRET).all()


def test_a_verifier_that_fails_is_a_fault(bundles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aot.dialect.verifier._problem", lambda node: "broken\nhere")
    data = samples((2, 8))
    with pytest.raises(InternalError, match=r"fold_qdq: pl.*: broken\n    at aten\."):
        lower(network(), data[0], calibration=data)


def test_a_tflite_file_has_a_bundle_too(bundles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aot.lower_tflite.import_tflite", None)
    with pytest.raises(InternalError) as raised:
        lower_tflite(b"secret")
    with zipfile.ZipFile(raised.value.bundle) as archive:
        assert b"TypeError" in archive.read("fault.txt")
        assert not any(b"secret" in archive.read(name) for name in archive.namelist())


def test_the_users_own_errors_are_left() -> None:
    def data() -> Iterator[tuple[torch.Tensor, ...]]:
        yield from samples((2, 8))[:2]
        raise KeyError("my own")

    with pytest.raises(KeyError, match="my own"):
        lower(network(), samples((2, 8))[0], calibration=data())
    with pytest.raises(TypeError, match="unexpected keyword"):
        lower(network(), samples((2, 8))[0], calibration=[], no_such=1)  # type: ignore[call-arg]
