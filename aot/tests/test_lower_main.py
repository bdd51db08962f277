# SPDX-License-Identifier: Apache-2.0
"""The command line: its outputs, and its messages for wrong arguments."""

from __future__ import annotations

import calendar
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from absl import flags
from absl.testing import flagsaver
from torch import nn

from aot import lower_main
from aot.accept.references import function
from aot.errors import LoweringError
from aot.plan.program import load_program
from aot.plan.pte import read_program
from aot.testing.fixtures import forget_rules

HERE = __name__


class Quotient(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / (x.abs().sum(1, keepdim=True) + 1.0)


def linear() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(4, 3).eval()


def exported() -> torch.export.ExportedProgram:
    return torch.export.export(linear(), rows()[0])


def image() -> nn.Module:
    torch.manual_seed(0)
    return nn.Conv2d(3, 2, 3).eval()


def quotient() -> nn.Module:
    return Quotient().eval()


def rows() -> list[tuple[torch.Tensor]]:
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(1, 4, generator=generator),) for _ in range(12)]


def images() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(1, 3, 5, 6, generator=generator) for _ in range(4)]


def classes() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.cat([row for (row,) in rows()]), torch.arange(12) % 3


def columns() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(1, 2, 7, 1, generator=generator) for _ in range(4)]


def tanh() -> nn.Module:
    return nn.Tanh().eval()


def labelled() -> tuple[torch.Tensor, torch.Tensor]:
    inputs = torch.cat([x for (x,) in rows()])
    with torch.no_grad():
        return inputs, linear()(inputs).argmax(1)


def far_rows() -> list[tuple[torch.Tensor]]:
    return [(100.0 * x,) for (x,) in rows()]


def nothing() -> list[tuple[torch.Tensor]]:
    return []


def a_list() -> object:
    return []


def one_buffer() -> Iterator[torch.Tensor]:
    buffer = torch.empty(1, 4)
    for value in (-1.0, 3.0):
        yield buffer.fill_(value)


def mixed_rows() -> list[torch.Tensor]:
    return [torch.ones(1, 4), torch.ones(1, 5)]


def wide_rows() -> list[torch.Tensor]:
    return [torch.ones(1, 5)]


def without_a_file() -> nn.Module:
    Path("weights.pt").read_bytes()
    return linear()


def rows_and_an_error() -> Iterator[torch.Tensor]:
    yield torch.ones(1, 4)
    raise KeyError("row")


def with_width(width: int, depth: int = 2) -> nn.Module:
    return nn.Linear(width, depth).eval()


def a_number() -> int:
    return 3


def run(folder: Path, arguments: list[str]) -> int:
    """Runs the command in `folder`; returns its exit status."""
    with flagsaver.flagsaver(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUILD_WORKING_DIRECTORY", str(folder))
        flags.FLAGS.unparse_flags()
        flags.FLAGS(["lower", *arguments])
        try:
            lower_main.main(["lower"])
        except SystemExit as exit:
            return int(exit.code or 0)
    return 0


def lowering(model: str, calibration: str, *more: str) -> list[str]:
    return [
        f"--model={HERE}:{model}",
        f"--calibration={HERE}:{calibration}",
        "--output=x.pte",
        *more,
    ]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Make this file importable by its own name, like a user's module."""
    monkeypatch.setitem(sys.modules, HERE, request.module)


def test_writes_artefact_report_and_vectors(tmp_path: Path) -> None:
    options = ["--report=x.json", "--vectors=x.npz"]
    assert run(tmp_path, lowering("linear", "rows", *options)) == 0
    assert (tmp_path / "x.pte").read_bytes()[4:8] == b"ET12"
    report = json.loads((tmp_path / "x.json").read_text())
    assert [op["op"] for op in report["ops"]] == ["pl.linear"]
    with np.load(tmp_path / "x.npz") as vectors:
        assert vectors["input_0"].shape == (8, 1, 4)
        assert vectors["output_0"].shape == (8, 1, 3)
        assert vectors["input_0"].dtype == vectors["output_0"].dtype == np.int8


def test_an_exported_program_is_a_model(tmp_path: Path) -> None:
    assert run(tmp_path, lowering("exported", "rows", "--vectors=x.npz", "--suggest")) == 0
    assert (tmp_path / "x.pte").read_bytes()[4:8] == b"ET12"


def test_a_fault_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("aot.support.support.rule_for", None)
    assert run(tmp_path, lowering("linear", "rows")) == 1
    text = capsys.readouterr().err
    assert text.startswith("ERROR: lowering ends in TypeError: ")
    assert len(text.splitlines()) == 3 and "Traceback" not in text


def test_says_how_good_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    options = [f"--evaluation={HERE}:labelled", "--verbosity=0"]
    assert run(tmp_path, lowering("linear", "rows", *options)) == 0
    assert re.search(r"output `linear`: SQNR .* dB, .* on 12 held-out samples\n", caplog.text)
    assert "accuracy 100.00% in float32, 100.00% in int8\n" in caplog.text
    assert run(tmp_path, lowering("linear", "rows", "--suggest")) == 0
    assert re.search(r"^better: .* SQNR .* dB -> .*, predicted .*\n", capsys.readouterr().out)


def test_evaluation_is_found_beside_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[HERE], "evaluation", far_rows, raising=False)
    assert run(tmp_path, lowering("linear", "rows")) == 1
    text = capsys.readouterr().err
    assert "int8 is too far from float on 12 held-out samples" in text and "saturates" in text
    assert not (tmp_path / "x.pte").exists()
    options = ["--min_sqnr=-inf", "--min_agreement=0", "--noper_op", "--report=x.json"]
    assert run(tmp_path, lowering("linear", "rows", *options)) == 0
    quality = json.loads((tmp_path / "x.json").read_text())["quality"]
    assert (quality["min_sqnr"], quality["min_agreement"]) == (None, 0.0)
    assert all(row["alone_db"] is None for row in quality["values"])


def test_vectors_are_in_memory_order(tmp_path: Path) -> None:
    options = ["--vectors=x.npz", f"--test_inputs={HERE}:images", "--io_layout=nhwc"]
    assert run(tmp_path, lowering("image", "images", *options)) == 0
    with np.load(tmp_path / "x.npz") as vectors:
        assert vectors["input_0"].shape == (4, 1, 5, 6, 3)
        assert vectors["output_0"].shape == (4, 1, 3, 4, 2)


def test_vectors_of_a_column_are_in_the_artefacts_memory_order(tmp_path: Path) -> None:
    """Seen as [N, H, W, C], a contiguous NCHW tensor of one column has channels_last strides."""
    options = ["--vectors=x.npz", f"--test_inputs={HERE}:columns", "--io_layout=nhwc"]
    assert run(tmp_path, lowering("tanh", "columns", *options)) == 0
    with np.load(tmp_path / "x.npz") as vectors:
        assert vectors["input_0"].shape == vectors["output_0"].shape == (4, 1, 7, 1, 2)


def test_vectors_of_classes_are_a_test_set(tmp_path: Path) -> None:
    options = ["--vectors=x.npz", f"--test_inputs={HERE}:classes"]
    assert run(tmp_path, lowering("linear", "rows", *options)) == 0
    with np.load(tmp_path / "x.npz") as vectors:
        assert vectors["input_0"].shape == (12, 1, 4) and vectors["labels"].dtype == np.uint16
        assert vectors["labels"].tolist() == [0, 1, 2] * 4


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    contents = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        options = ["--report=x.json", "--vectors=x.npz", "--program=x.program"]
        run(folder, lowering("linear", "rows", *options))
        contents.append([path.read_bytes() for path in sorted(folder.iterdir())])
    assert contents[0] == contents[1] and len(contents[0]) == 4


def test_the_program_is_the_decoded_pte(tmp_path: Path) -> None:
    assert run(tmp_path, lowering("linear", "rows", "--program=x.program")) == 0
    kept, read = (
        load_program(tmp_path / "x.program"),
        read_program((tmp_path / "x.pte").read_bytes()),
    )
    assert [repr(call) for call in kept.calls] == [repr(call) for call in read.calls]
    assert [call.op for call in kept.calls] == ["pl::linear"]


def no_epochs(module: nn.Module) -> None:
    assert len(list(module.parameters())) == 2


def test_settings_of_quantization(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for setting, text in (
        ('--quantization={"head": "float32"}', "quantization: 'head' matches no layer"),
        ('--observer={"head"}', "must be valid JSON"),
        ('--observer={"head": 3}', "all values must be strings"),
    ):
        status = 1 if "matches no layer" in text else 2
        assert run(tmp_path, lowering("linear", "rows", setting)) == status
        assert text in capsys.readouterr().err
    for given in (('--observer={"default": "mse"}',), (f"--train={HERE}:no_epochs", "--equalize")):
        assert run(tmp_path, lowering("linear", "rows", *given)) == 0


@pytest.mark.parametrize("flag", ["--allow-float-fallback", "--allow_float_fallback"])
def test_float_fallback(
    flag: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_rules(monkeypatch, torch.ops.aten.div.Tensor)
    assert run(tmp_path, lowering("quotient", "rows")) == 1
    assert "aten.div.Tensor -> float32[1, 4]: it has no int8 form" in capsys.readouterr().err
    assert not (tmp_path / "x.pte").exists()
    assert run(tmp_path, lowering("quotient", "rows", flag)) == 0


def test_a_module_that_is_another_one_is_told_by_its_file() -> None:
    """A user's calendar.py is not found, because Python's own comes first."""
    with pytest.raises(LoweringError) as error:
        function("calendar:factory")
    assert str(error.value) == (
        f"calendar:factory: calendar ({calendar.__file__}) has no 'factory'"
    )


@pytest.mark.parametrize(
    ("model", "calibration", "text"),
    [
        ("missing", "rows", "has no 'missing'"),
        (
            "a_list",
            "rows",
            "must return a torch.nn.Module or an exported program; it returns a list",
        ),
        ("linear", "nothing", "yields no samples"),
        ("linear", "mixed_rows", "calibration sample 1, input 0 is float32[1, 5]"),
        ("with_width", "rows", "with_width requires arguments (width), but is called with none"),
        ("without_a_file", "rows", r"without_a_file raises FileNotFoundError (test_lower_main.py:"),
        ("without_a_file", "rows", "'weights.pt'. For files next to the module use Path(__file__)"),
        ("linear", "rows_and_an_error", "rows_and_an_error raises KeyError (test_lower_main.py:"),
        ("linear", "a_number", "a_number must be a list or generator of samples; got int"),
    ],
)
def test_wrong_references(
    model: str, calibration: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, lowering(model, calibration)) == 1
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("no_colon", "not of the form pkg.module:name"),
        (".relative:factory", "not of the form pkg.module:name"),
        ("../folder/file:factory", "not of the form pkg.module:name"),
        ("no.such.module:factory", "Check that the py_library is in deps"),
    ],
)
def test_wrong_modules(
    reference: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [f"--model={reference}", f"--calibration={HERE}:rows", "--output=x.pte"]
    assert run(tmp_path, arguments) == 1
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["rows"], "--test_inputs needs --vectors"),
        (
            ["wide_rows", "--vectors=x.npz"],
            r"sample 0, input 0 is float32\[1, 5\], but the model was",
        ),
        (["nothing", "--vectors=x.npz"], "nothing yields no samples"),
    ],
)
def test_wrong_test_inputs(
    options: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *more = options
    arguments = lowering("linear", "rows", f"--test_inputs={HERE}:{name}", *more)
    assert run(tmp_path, arguments) == (1 if more else 2)
    assert re.search(text, capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


def test_samples_in_one_buffer_are_several(tmp_path: Path) -> None:
    assert run(tmp_path, lowering("linear", "one_buffer", "--vectors=x.npz")) == 0
    with np.load(tmp_path / "x.npz") as vectors:
        first, second = vectors["input_0"]
        assert (first != second).all()


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net_with_imports.py").write_text("import no_such_package.vision\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        LoweringError, match="imports no_such_package, which is not installed in the env"
    ):
        function("net_with_imports:factory")


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("--output=none/x.pte", "--output=none/x.pte: the folder .*none does not exist"),
        ("--report=none/x.json", "--report=none/x.json: the folder"),
        ("--vectors=.", "--vectors=.: is a folder"),
        ("--output=", "--output=: is a folder"),
        ("--program=none/x.program", "--program=none/x.program: the folder"),
        ("--report=x.pte", "--output, --report, --vectors and --program must name different files"),
        (
            "--report=./x.pte",
            "--output, --report, --vectors and --program must name different files",
        ),
        ("--output=/proc/self/x", "cannot write /proc/self/x: "),
        ("--output=/dev/full", "cannot write /dev/full: No space left on device"),
        ("--vectors=/dev/full", "cannot write /dev/full: No space left on device"),
    ],
)
def test_places_that_cannot_be_written(
    flag: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = 1 if text.startswith("cannot write") else 2
    assert run(tmp_path, lowering("linear", "rows", flag)) == status
    assert re.search(text, capsys.readouterr().err)


def test_modules_of_the_workspace_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "some_models"
    package.mkdir()
    (package / "net.py").write_text("def factory():\n    return 7\n")
    (package / "near_net.py").write_text("from some_models.net import factory\n")
    (package / "far_net.py").write_text("from near_net import factory\n")
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(package))
    for place in ("some_models.net", "near_net.py", "far_net.py"):
        assert function(f"{place}:factory")() == 7
