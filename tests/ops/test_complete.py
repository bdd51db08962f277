# SPDX-License-Identifier: Apache-2.0
"""An op is complete: the files in CONTRIBUTING.md under "Add an op" exist, and are registered.

A missing part is reported by the name of its file.
"""

from functools import cache
from itertools import chain
from pathlib import Path

import pytest

import kernels.ops  # noqa: F401 (registers the ops)
from aot.dialect.library import OPS
from kernels.registry import all_kernels
from kernels.testing.folders import folders
from tests.ops.tables import MOVE_NOTHING, TABLES, table

# Conversions between float32 and int8; no table's model has them inside.
BORDERS = ("quantize", "dequantize")
# Ops only for layers that stay float32: aot/passes/aten/floats/test_float_forms.py.
FLOATS = ("integer_to_float", "scatter_sum_float")
# Ops without a PyTorch model: aot/importers/tflite/test_builtins.py.
IMPORTED = ("svdf",)


@pytest.mark.parametrize("name", [op for op in OPS if op not in MOVE_NOTHING])
def test_the_op_has_a_kernel(name: str) -> None:
    assert f"pl::{name}" in all_kernels(), (
        f"pl::{name} has no kernel: write kernels/{name}/, see kernels/README.md"
    )


def test_kernels_folders_are_complete() -> None:
    assert [folder.name for folder in folders()]


@pytest.mark.parametrize("op", [op for op in all_kernels() if op.startswith("pl::")])
def test_the_dialect_has_the_kernels_op(op: str) -> None:
    name = op.removeprefix("pl::")
    assert name in OPS, f"the dialect has no {op}: write kernels/{name}/op.py"


@pytest.mark.parametrize("name", OPS)
def test_the_page_has_a_row(name: str) -> None:
    page = Path("docs/operators.md").read_text().split("## Every op")[0]
    assert f"`pl.{name}`" in page, f"docs/operators.md has no row for pl.{name}: add one"


@cache
def ops_of_the_tables() -> set[str]:
    cases = list(chain.from_iterable(table(t).cases() for t in TABLES))
    transposed = {"transpose" for case in cases if case.transposes}
    return {op for case in cases for op in case.ops} | transposed


@pytest.mark.parametrize(
    "name", [op for op in OPS if op not in (*MOVE_NOTHING, *BORDERS, *FLOATS, *IMPORTED)]
)
def test_a_table_has_the_op(name: str) -> None:
    found = name in ops_of_the_tables()
    assert found, (
        f"no case gives pl::{name}: give its rule in op.py an example, or add rows to a table of "
        "tests/ops"
    )
