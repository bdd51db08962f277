# SPDX-License-Identifier: Apache-2.0
"""Call of NXP's converter with a stand-in of the SDK: it may crash, hang or be missing."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

from aot.artefact.report import FORMAT
from aot.backends.neutron import converter
from aot.backends.neutron.converter import PYTHON, absent, convert
from aot.backends.neutron.testing.stand_in import stand_in
from aot.backends.npus import NEUTRONS, Neutron
from aot.errors import LoweringError
from aot.lower import lower
from aot.targets import target_named
from aot.testing.fixtures import samples
from tools.python.scripts import python_script

SDK = Path(__file__).parent / "testing" / "sdk"
PART = NEUTRONS["imxrt700"]


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python with the stand-in of the SDK, as the user names it."""
    python = python_script(tmp_path / "python3", folders=(SDK,))
    monkeypatch.setenv(PYTHON, str(python))
    return python


def region() -> bytes:
    from aot.backends.neutron.test_payload import region as made

    return made(1, 1)


def test_converts(sdk: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert absent() == ""
    with caplog.at_level(logging.INFO, "absl"):
        for part in NEUTRONS.values():
            assert convert(region(), part) == stand_in(region(), part)
    assert "neutron: converting for mcxn94x, ['excludeGraphPasses', " in caplog.text


# behaviour of the stand-in, and the message
FAILURES = {
    "crash": "NXP's converter was ended by signal 6; it printed:",
    "fail": r"fails with status 1; it printed:\n(.*\n)*.*told to fail",
    "nothing": "NXP's converter writes no output file; it printed:\n  converting for imxrt700",
}


@pytest.mark.parametrize("does", FAILURES)
def test_a_converter_that_fails(does: str, sdk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_DOES", does)
    with pytest.raises(LoweringError, match=FAILURES[does]):
        convert(region(), PART)


def test_a_converter_that_does_not_end(sdk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_DOES", "hang")
    signals: list[int] = []
    kill = os.killpg

    def killed(group: int, number: int) -> None:
        signals.append(number)
        kill(group, number)

    monkeypatch.setattr(os, "killpg", killed)
    with pytest.raises(LoweringError, match="did not end within 1 s"):
        convert(region(), PART, 1.0)
    assert signals == [signal.SIGKILL]


def test_a_part_that_the_sdk_does_not_know(sdk: Path) -> None:
    part = Neutron("mine", "imx99", fetches_weights=False)
    with pytest.raises(LoweringError, match="no target imx99; it has: imxrt700, mcxn94x"):
        convert(region(), part)


def test_what_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PYTHON, raising=False)
    assert absent().startswith("NXP's eIQ Neutron SDK (eiq_neutron_sdk) is not installed here: ")
    assert f"name that in the environment variable {PYTHON}" in absent()
    monkeypatch.setenv(PYTHON, str(tmp_path / "none"))
    assert absent() == f"{PYTHON}={tmp_path}/none cannot be run: No such file or directory"
    monkeypatch.setenv(PYTHON, sys.executable)
    assert absent().startswith(f"{PYTHON}={sys.executable} has no eiq_neutron_sdk: install")


def test_another_python_keeps_its_own_packages(sdk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    assert "PYTHONPATH" not in converter._environment(os.environ[PYTHON])
    assert converter._environment(sys.executable)["PYTHONPATH"] == "/nowhere"


def test_without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PYTHON, raising=False)
    torch.manual_seed(0)
    net, data = nn.Sequential(nn.Linear(6, 4)).eval(), samples((2, 6))

    def never() -> Iterator[tuple[torch.Tensor, ...]]:
        raise AssertionError("nothing is calibrated where lowering cannot succeed")
        yield ()  # type: ignore[unreachable]

    with pytest.raises(LoweringError, match="^target 'imxrt700': backend 'neutron': NXP's eIQ"):
        lower(net, data[0], target="imxrt700", calibration=never())
    lowered = lower(net, data[0], target="imxrt700", neutron="auto", calibration=data)
    assert lowered.report["format"] == FORMAT
    (row,) = lowered.report["ops"]
    assert row["runs_on"] == "cortex_m"
    assert row["not_on"]["neutron"] == absent()
    (warning,) = [w for w in lowered.report["warnings"] if w["kind"] == "absent_engine"]
    assert warning["text"] == f"nothing runs on neutron: {absent()}"


def test_with_the_sdk_the_command_line_is_the_same(sdk: Path) -> None:
    torch.manual_seed(0)
    net, data = nn.Sequential(nn.Linear(6, 4)).eval(), samples((2, 6))
    for name in NEUTRONS:
        lowered = lower(net, data[0], target=target_named(name), calibration=data)
        (delegate,) = lowered.report["delegates"]
        assert (delegate["backend_id"], delegate["configuration"]) == ("NeutronBackend", name)
        fetched = delegate["report"]["memory"]["fetched"]
        assert (fetched > 0) == NEUTRONS[name].fetches_weights


def test_what_is_no_presence() -> None:
    with pytest.raises(LoweringError, match="neutron must be one of required, auto; got 'maybe'"):
        target_named("imxrt700", neutron="maybe")
