# SPDX-License-Identifier: Apache-2.0
"""lower_onnx, and .onnx files on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from absl import flags
from absl.testing import flagsaver

from aot import lower_main
from aot.errors import LoweringError
from aot.importers.onnx.testing.graphs import GraphCase, values
from aot.importers.onnx.testing.networks import classifier, stream
from aot.importers.onnx.testing.quantized import quantized
from aot.lower_onnx import lower_onnx


def _layer() -> bytes:
    case = GraphCase("Conv", [values(1, 3, 8, 8), [values(4, 3, 3, 3)], [values(4)]])
    return quantized(case)


def images() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(0)
    for _ in range(32):
        yield (torch.rand(1, 3, 8, 8, generator=generator),)


@pytest.mark.parametrize("target", ["cortex-m", "ethos-u55-128"])
def test_lowers_for_a_target(target: str) -> None:
    is_npu = target != "cortex-m"
    lowered = lower_onnx(_layer(), target=target, verify_npu="off" if is_npu else "cut")
    assert lowered.report["inputs"][0]["name"] == "x0"
    assert lowered.report["inputs"][0]["dtype"] == "int8"
    assert len(lowered.report["delegates"]) == int(is_npu)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q.onnx").write_bytes(_layer())
    (tmp_path / "f.onnx").write_bytes(classifier())
    (tmp_path / "s.onnx").write_bytes(stream())
    return tmp_path


def _run(folder: Path, arguments: list[str]) -> None:
    """Run the command line with its own flag state."""
    with flagsaver.flagsaver(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUILD_WORKING_DIRECTORY", str(folder))
        flags.FLAGS.unparse_flags()
        flags.FLAGS(["lower", "--output=x.pte", *arguments])
        lower_main.run()


def test_a_quantized_file(files: Path) -> None:
    _run(files, ["--onnx=q.onnx", "--report=x.json", "--vectors=x.npz"])
    assert (files / "x.pte").read_bytes() == lower_onnx(_layer(), io_layout="auto").pte
    assert np.load(files / "x.npz")["input_0"].shape == (8, 1, 8, 8, 3)
    _run(files, ["--onnx=q.onnx", "--io_layout=keep"])
    assert (files / "x.pte").read_bytes() == lower_onnx(_layer()).pte


def test_a_float_file(files: Path) -> None:
    settings = json.dumps({"shapes": {"height": 8}})
    data = "aot.tests.test_lower_onnx:images"
    _run(
        files,
        [
            "--onnx=f.onnx",
            f"--onnx_settings={settings}",
            f"--calibration={data}",
            "--report=x.json",
            '--quantization={"default": "int8", "fc": "int16"}',
        ],
    )
    report = json.loads((files / "x.json").read_text())
    assert report["outputs"][0]["dtype"] == "int16"


# arguments: the error message
BAD = {
    "--onnx=none.onnx": "none.onnx: No such file",
    "--onnx=f.onnx --onnx_settings={": "must be valid JSON",
    '--onnx=f.onnx --onnx_settings={"shape":1}': "its keys are shapes, bind, outputs, states",
    '--onnx=f.onnx --onnx_settings={"shapes":{"height":8}}': "is not quantized",
    "--onnx=q.onnx --calibration=aot.tests.test_lower_onnx:images": "is quantized",
    "--onnx=q.onnx --observer=minmax": "--observer: not allowed with an .onnx file without",
    "--onnx=q.onnx --tflite=x.tflite": "--tflite and --onnx: give one of them",
    "--tflite=x.tflite --onnx_settings={}": "--onnx_settings: not allowed with a .tflite file",
}


@pytest.mark.parametrize("arguments", BAD)
def test_wrong_flags(arguments: str, files: Path) -> None:
    with pytest.raises(LoweringError, match=BAD[arguments]):
        _run(files, arguments.split())
