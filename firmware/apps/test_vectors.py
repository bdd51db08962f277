# SPDX-License-Identifier: Apache-2.0
"""Vectors as C: what is written, and what is refused."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

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
            r"input_0 .* int8 \[2\], the model's are .*\[1, 2",
        ),
        ({"input_0": np.zeros((2, 1, 2), np.uint8)}, "uint8"),
        ({"output_0": np.zeros((3, 3), np.int32)}, "same number"),
        ({"labels": np.zeros(2)}, "float64"),
        ({"labels": np.array([0, -1])}, "not classes"),
        ({"labels": np.array([0, 70000])}, "not classes"),
        ({"labels": np.zeros((2, 2), np.int64)}, r"\[2, 2\], not classes"),
    ],
)
def test_refused(change: dict[str, npt.NDArray[Any]], message: str) -> None:
    with pytest.raises(VectorsError, match=message):
        source(arrays() | change, PLAN, "digits_plan.h")


def test_missing_and_empty() -> None:
    incomplete = arrays()
    del incomplete["input_1"]
    with pytest.raises(VectorsError, match="no array 'input_1'"):
        source(incomplete, PLAN, "digits_plan.h")
    with pytest.raises(VectorsError, match="same number"):
        source({name: array[:0] for name, array in arrays().items()}, PLAN, "digits_plan.h")
