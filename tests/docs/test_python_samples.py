# SPDX-License-Identifier: Apache-2.0
"""Python samples of pages run, each in a function whose names are declared here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.lower import lower
from aot.options import Measure, Quantize
from tests.docs.samples import by_page

Names = dict[str, Any]

# These need an NPU's library or converter, recordings, the wheel, or parts left to the reader.
# test_samples checks their imports; test_tutorials and test_neutron run two.
_ELSEWHERE = {
    "aot/backends/README.md",
    "aot/models/README.md",
    "docs/ethos_u.md",
    "docs/neutron.md",
    "docs/tutorials/your_model.md",
    "docs/without_bazel.md",
    "kernels/README.md",
}
_X = torch.randn(1, 2, 8, generator=torch.Generator().manual_seed(0))


class _Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv1d(2, 4, 3)
        self.head = nn.Linear(24, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.head(torch.relu(self.conv(x)).flatten(1))
        return y


def _lowering() -> Names:
    model = _Net().eval()
    data = [(_X * k,) for k in (1.0, 0.5, -1.0)]
    names = {"model": model, "module": model, "example": (_X,), "example_inputs": (_X,)}
    batches = [(torch.cat([x for (x,) in data]), torch.tensor([0, 1, 2]))]
    return {**names, "samples": data, "held_out": data, "x": _X, "batches": batches}


def _report(folder: Path) -> Names:
    lowered = lower(_Net().eval(), (_X,), calibration=[(_X,)])
    (folder / "digits.report.json").write_text(json.dumps(lowered.report))
    step = {"id": 0, "instructions": 7, "module": "conv"}
    (folder / "profile.json").write_text(json.dumps({"steps": [step]}))
    return {}


# page: its names; a check of its names after it ran.
_PAGES: dict[str, tuple[Callable[[Path], Names], Callable[[Names], object]]] = {
    "aot/README.md": (
        lambda _: {"self": SimpleNamespace(conv=nn.Conv1d(2, 4, 3)), "x": _X},
        lambda found: found["y"].shape == (1, 4, 6),
    ),
    "docs/accuracy.md": (
        lambda _: _lowering(),
        lambda found: "int16" in {op["precision"] for op in found["lowered"].report["ops"]},
    ),
    "docs/how_it_works.md": (
        lambda _: _lowering(),
        lambda found: found["lowered"].pte and found["lowered"].reference(_X),
    ),
    "docs/qat.md": (lambda _: _lowering(), lambda found: found["lowered"].pte),
    "docs/quality.md": (
        lambda _: {"inputs": _X, "labels": torch.tensor([1]), "Measure": Measure},
        lambda found: found["recall"](torch.tensor([[0.0, 1.0]]), torch.tensor([1])) == 1.0,
    ),
    "docs/recurrent.md": (
        lambda _: {},
        lambda found: found["Keyword"]()(torch.zeros(1, 1, 10)).shape == (1, 12),
    ),
    "docs/reports.md": (_report, lambda found: found["source"]),
    "docs/state.md": (
        lambda _: {},
        lambda found: found["Fir"]()(torch.zeros(1, 2, 8)).shape == (1, 3, 8),
    ),
    "docs/tutorials/from_executorch.md": (
        lambda _: _lowering(),
        lambda found: found["lowered"].pte,
    ),
    "docs/your_own_app.md": (
        lambda _: {},
        lambda found: (
            found["forward"](
                SimpleNamespace(net=torch.sum), torch.full((1, 2, 2, 3), 255, dtype=torch.uint8)
            )
            == 12.0
        ),
    ),
}


def test_all_samples_are_run() -> None:
    assert {*by_page("python")} == {*_PAGES, *_ELSEWHERE}


def run(text: str, names: Names) -> Names:
    """Run a sample like a file with these names; return all names after it."""
    scope: Names = {"torch": torch, "nn": nn, "F": F, "lower": lower, "Quantize": Quantize, **names}
    exec(compile(text.replace("\nreturn ", "\nresult = "), "sample", "exec"), scope)
    return scope


@pytest.mark.parametrize("page", _PAGES)
def test_a_sample_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = by_page("python")[page]
    monkeypatch.chdir(tmp_path)
    names, check = _PAGES[page]
    assert check(run(text, names(tmp_path)))
