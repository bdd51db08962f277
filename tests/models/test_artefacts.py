# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's own loader opens every artefact, and agrees with the lowering report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aot.pte.conventions import SIDES, scales_method, zero_points_method
from aot.upstream.executorch_runtime import Runtime
from kernels.common.tensor import DTYPES

MODELS = ("deep_autoencoder", "digits", "ds_cnn", "mobilenet_v1", "resnet8")


@pytest.mark.parametrize("model", MODELS)
def test_executorch_agrees_with_the_report(model: str) -> None:
    folder = Path("aot/models") / model
    report = json.loads((folder / f"{model}.report.json").read_text())
    program = Runtime.get().load_program(folder / f"{model}.pte")
    assert "forward" in program.method_names
    meta = program.metadata("forward")
    for side, count in zip(SIDES, (meta.num_inputs(), meta.num_outputs()), strict=True):
        tensors = report[f"{side}s"]
        assert count == len(tensors)
        for index, tensor in enumerate(tensors):
            info = getattr(meta, f"{side}_tensor_meta")(index)
            assert list(info.sizes()) == tensor["shape"]
            assert tensor["dtype"] == "int8" and info.dtype() == DTYPES["int8"].scalar_type
        for name, method in (("scale", scales_method), ("zero_point", zero_points_method)):
            values = program.load_method(method(side)).execute([])
            assert values == [tensor[name] for tensor in tensors]


@pytest.mark.parametrize("model", MODELS)
def test_nothing_fell_back(model: str) -> None:
    report = json.loads((Path("aot/models") / model / f"{model}.report.json").read_text())
    assert report["float_ops"] == 0
    assert all(op["op"].startswith("pl.") for op in report["ops"])
