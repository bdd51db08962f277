# SPDX-License-Identifier: Apache-2.0
"""Vectors as C: output and refusals."""

import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from absl.testing import flagsaver

from firmware.apps import vectors_main
from firmware.apps.vectors import VectorsError, source

PLAN: dict[str, Any] = {
    "name": "digits_plan",
    "inputs": [{"dtype": "int8", "shape": [1, 2]}, {"dtype": "float32", "shape": []}],
    "outputs": [{"dtype": "int32", "shape": [3]}],
    "steps": [{"op": "pl::relu"}],
}


def arrays(count: int = 2) -> dict[str, npt.NDArray[Any]]:
    return {
        "input_0": np.arange(-2, 2 * count - 2, dtype=np.int8).reshape(count, 1, 2),
        "input_1": np.full(count, 0.5, np.float32),
        "output_0": np.arange(3 * count, dtype=np.int32).reshape(count, 3),
    }


def test_source() -> None:
    text = source(arrays(), PLAN, "models/digits_plan.h")
    assert '#include "models/digits_plan.h"' in text
    assert "int8_t input_0[4] = {-2, -1, 0, 1};" in text
    assert "int32_t output_0[6] = {0, 1, 2, 3, 4, 5};" in text
    assert "inputs[] = {input_0, input_1};" in text
    assert "pl_image_vectors = {&digits_plan, 2, inputs, outputs, NULL, pl_compare_bits};" in text


def test_labels_and_limit() -> None:
    labelled = arrays(5) | {"labels": np.array([3, 1, 4, 1, 5])}
    text = source(labelled, PLAN, "digits_plan.h", limit=3)
    assert "labels[] = {3, 1, 4};" in text
    assert "int32_t output_0[9]" in text
    assert "{&digits_plan, 3, inputs, outputs, labels, pl_compare_bits}" in text


def test_a_plan_with_delegates_starts_with_the_npu() -> None:
    delegated = PLAN | {"steps": [{"op": "pl::transpose"}, {"op": "delegate::EthosUBackend"}]}
    assert "pl_app_init_with_npu(app, vectors)" in source(arrays(), delegated, "digits_plan.h")
    assert "pl_app_init" not in source(arrays(), PLAN, "digits_plan.h")


def test_ops_in_float_are_compared_closely() -> None:
    in_float = PLAN | {"steps": [{"op": "pl::linear"}, {"op": "aten::tanh.out"}]}
    assert "pl_compare_close};" in source(arrays(), in_float, "digits_plan.h")


def test_more_than_there_are() -> None:
    assert "{&digits_plan, 2, " in source(arrays(), PLAN, "digits_plan.h", limit=100)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"input_0": np.zeros((2, 2), np.int8)},
            r"input_0 .* int8 \[2\]; the model needs .*\[1, 2",
        ),
        ({"input_0": np.zeros((2, 1, 2), np.uint8)}, "uint8"),
        ({"output_0": np.zeros((3, 3), np.int32)}, "same number"),
        ({"labels": np.zeros(2)}, "float64"),
        ({"labels": np.array([0, -1])}, "one class number"),
        ({"labels": np.array([0, 70000])}, "one class number"),
        ({"labels": np.zeros((2, 2), np.int64)}, r"one class number .* \[2, 2\]"),
    ],
)
def test_refused(change: dict[str, npt.NDArray[Any]], message: str) -> None:
    with pytest.raises(VectorsError, match=message):
        source(arrays() | change, PLAN, "digits_plan.h")


def test_missing_and_empty() -> None:
    incomplete = arrays()
    del incomplete["input_1"]
    with pytest.raises(VectorsError, match="the array 'input_1' is missing"):
        source(incomplete, PLAN, "digits_plan.h")
    with pytest.raises(VectorsError, match="same number"):
        source({name: array[:0] for name, array in arrays().items()}, PLAN, "digits_plan.h")


def _damaged(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x7F, 0xFF, rng.randrange(256)))
    return bytes(changed[: rng.randrange(len(changed))] if rng.random() < 0.1 else changed)


def _npz(file: dict[str, npt.NDArray[Any]]) -> bytes:
    data = io.BytesIO()
    np.savez_compressed(data, **file)
    return data.getvalue()


def test_damaged_files_end_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(1)
    single = io.BytesIO()
    np.save(single, arrays()["input_0"])
    good = _npz(arrays() | {"labels": np.array([1, 2])})
    odd = [
        _npz({"input_0": np.array([object()])}),
        _npz(arrays() | {"labels": np.array(["a", "b"])}),
        _npz({name: array.astype("datetime64[s]") for name, array in arrays().items()}),
    ]
    files = [b"", single.getvalue(), *odd, *(_damaged(good, rng) for _ in range(400))]
    plan = json.dumps(PLAN).encode()
    plans = [b"[]", b"{}", b"\xff", *(_damaged(plan, rng) for _ in range(100))]
    pairs = [(file, plan) for file in files] + [(good, damaged) for damaged in plans]
    npz, description, output = tmp_path / "v.npz", tmp_path / "plan.json", tmp_path / "v.c"
    ends = []
    for file, text in pairs:
        npz.write_bytes(file)
        description.write_bytes(text)
        with flagsaver.as_parsed(
            vectors=str(npz), plan=str(description), include="plan.h", source=str(output), limit="0"
        ):
            ends.append(vectors_main.main([""]))
        printed = capsys.readouterr().err
        assert printed.count("\n") == (1 if ends[-1] else 0), printed
    assert set(ends) == {0, 2}
    assert ends.count(2) > 200
