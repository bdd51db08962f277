# SPDX-License-Identifier: Apache-2.0
"""A .tflite file to an artefact, by the API and by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import torch
from absl import flags
from absl.testing import flagsaver

from aot import lower_main
from aot.dialect.graph import border_nodes
from aot.errors import LoweringError
from aot.importers.tflite.testing.borders import PROBABILITY, WHOLE, unsigned
from aot.importers.tflite.testing.networks import network, streaming
from aot.importers.tflite.testing.oracle import tflm
from aot.lower_tflite import lower_tflite, random_inputs
from aot.plan.pte import read_program

SCHEMA = json.loads((Path(__file__).parents[1] / "artefact/report.schema.json").read_text())


@pytest.mark.parametrize("dead", [(), (1, 5)])
def test_network(dead: tuple[int, ...]) -> None:
    data = network(dead).bytes()
    lowered = lower_tflite(data)
    samples = random_inputs(lowered, 3)
    expected = tflm(data, [[x.numpy() for x in sample] for sample in samples])
    for sample, (theirs,) in zip(samples, expected, strict=True):
        (own,) = lowered.reference(sample)
        np.testing.assert_array_equal(own.numpy(), theirs)
    jsonschema.validate(lowered.report, SCHEMA)
    assert lowered.report["calibration_samples"] == 0
    left = [
        (row["after"]["inputs"], row["after"]["outputs"]) for row in lowered.report["dead_channels"]
    ]
    assert left == ([(3, 6), (6, 6), (6, 5)] if dead else [])
    assert lowered.pte == lower_tflite(data).pte


def test_state() -> None:
    lowered = lower_tflite(streaming(initialized=True).bytes())
    assert [state["name"] for state in lowered.report["states"]] == ["frames"]
    first = lowered.reference(random_inputs(lowered, 1)[0])
    again = lowered.reference(random_inputs(lowered, 1)[0])
    assert not torch.equal(first[0], again[0])


def test_the_border_is_the_files() -> None:
    lowered = lower_tflite(network().bytes())
    ((image,), (classes,)) = border_nodes(lowered.module)
    assert image.meta["val"].shape == (1, 12, 10, 3)
    assert classes.meta["val"].shape == (1, 5)
    program = read_program(lowered.pte)
    assert program.inputs[0].layout == "nhwc"


def test_bytes_at_the_border() -> None:
    """The artefact has int8; a warning says so."""
    data = unsigned(WHOLE, PROBABILITY).bytes()
    lowered = lower_tflite(data)
    texts = [w["text"] for w in lowered.report["warnings"] if w["kind"] == "uint8_border"]
    assert texts == [
        "input 0 is uint8 in the file, int8 here: byte - 128",
        "output 0 is uint8 in the file, int8 here: byte - 128",
    ]
    (sample,) = random_inputs(lowered, 1)
    ((theirs,),) = tflm(data, [[sample[0].numpy()]])
    np.testing.assert_array_equal(lowered.reference(sample)[0].numpy(), theirs)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "x.tflite").write_bytes(network().bytes())
    (tmp_path / "y.tflite").write_bytes(b"TFL3")
    return tmp_path


def _run(folder: Path, arguments: list[str]) -> None:
    """Run the command line in a process with its own flag state."""
    with flagsaver.flagsaver(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUILD_WORKING_DIRECTORY", str(folder))
        flags.FLAGS.unparse_flags()
        flags.FLAGS(["lower", "--output=x.pte", *arguments])
        lower_main.run()


def test_command_line(files: Path) -> None:
    _run(files, ["--tflite=x.tflite", "--report=x.json", "--vectors=x.npz"])
    assert (files / "x.pte").read_bytes() == lower_tflite(network().bytes()).pte
    assert json.loads((files / "x.json").read_text())["target"] == "cortex-m"
    assert np.load(files / "x.npz")["input_0"].shape == (8, 1, 12, 10, 3)


# arguments: the error message
BAD = {
    "--tflite=none.tflite": "none.tflite: No such file",
    "--tflite=y.tflite": r"this is not a \.tflite file",
    "--tflite=x.tflite --observer=minmax": "--observer: not allowed with a .tflite file. It takes",
    "": "Give both --model and --calibration, or --tflite instead",
}


@pytest.mark.parametrize("arguments", BAD)
def test_wrong_flags(arguments: str, files: Path) -> None:
    with pytest.raises(LoweringError, match=BAD[arguments]):
        _run(files, arguments.split())


def test_a_path_is_no_file_of_bytes(files: Path) -> None:
    with pytest.raises(LoweringError, match=r"must be given as bytes, Path\(...\).read_bytes\(\)"):
        lower_tflite(files / "x.tflite")  # type: ignore[arg-type]
