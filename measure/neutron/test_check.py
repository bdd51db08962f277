# SPDX-License-Identifier: Apache-2.0
"""Checks for owners of NXP's SDK, with stand-ins of its converter and of the simulator's runner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from aot.backends.neutron import testing
from aot.backends.neutron.converter import PYTHON
from aot.testing.fixtures import samples
from measure.neutron.check import checked
from tools.python.scripts import python_script

FOLDER = Path(testing.__file__).parent


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sdk = (FOLDER / "sdk",)
    monkeypatch.setenv(PYTHON, str(python_script(tmp_path / "python3", folders=sdk)))
    runner = str(FOLDER / "runner_main.py")
    return python_script(tmp_path / "nxp_executor_runner", runner, folders=sdk)


def network(layer: nn.Module) -> SimpleNamespace:
    def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
        yield from samples((1, 6))

    return SimpleNamespace(factory=lambda: nn.Sequential(layer).eval(), calibration=calibration)


def test_a_network_that_is_converted_and_run(runner: Path) -> None:
    torch.manual_seed(0)
    row = checked(network(nn.Linear(6, 4)), "imxrt700", 3, runner)
    assert (row.problem, row.delegates, row.on_npu, row.ops) == ("", 1, 1, 1)
    assert row.payload_bytes > 0 and row.scratch_bytes > 0
    assert (row.values, row.differing, row.largest) == (12, 0, 0)
    row = checked(network(nn.Linear(6, 4)), "mcxn947", 3, runner, ["--off=2"])
    assert row.values == 12 and row.largest in (2, 254)
    assert row.differing == 3


class _Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(6, 4), nn.Linear(3, 4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        both = self.a(x) + self.b(y)
        return both, torch.relu(both)


def test_several_inputs_and_outputs(runner: Path) -> None:
    def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
        for (x,), (y,) in zip(samples((1, 6)), samples((1, 3)), strict=True):
            yield x, y

    torch.manual_seed(0)
    two = SimpleNamespace(factory=lambda: _Two().eval(), calibration=calibration)
    row = checked(two, "imxrt700", 3, runner)
    assert (row.problem, row.delegates, row.values, row.differing) == ("", 1, 24, 0)
    assert checked(two, "imxrt700", 3, runner, ["--off=2"]).differing == 6


def test_what_is_not_run(runner: Path) -> None:
    torch.manual_seed(0)
    row = checked(network(nn.Sequential(nn.Linear(6, 4), nn.GELU())), "imxrt700", 2, runner)
    assert (row.problem, row.on_npu, row.ops, row.differing) == ("", 1, 2, None)
    assert checked(network(nn.Linear(6, 4)), "imxrt700", 2, None).differing is None


def test_what_fails(runner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    row = checked(network(nn.Linear(6, 4)), "imxrt700", 2, runner, ["--no-such-flag"])
    assert "nxp_executor_runner fails with status 2" in row.problem
    row = checked(network(nn.Linear(6, 4)), "imxrt700", 2, runner.parent / "none")
    assert "No such file" in row.problem
    monkeypatch.setenv("STAND_IN_DOES", "fail")
    row = checked(network(nn.Linear(6, 4)), "imxrt700", 2, runner)
    assert "NXP's converter fails with status 1" in row.problem
