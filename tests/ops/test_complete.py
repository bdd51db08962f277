# SPDX-License-Identifier: Apache-2.0
"""An op is all there: what CONTRIBUTING.md lists under "Add an op" exists, and is registered.

What is missing is told by the name of the file to write.
"""

import importlib
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest

import aot.dialect.ops
import aot.rules
from aot.dialect.library import OPS
from aot.rules.rule import Family
from kernels.registry import all_kernels
from kernels.testing.folders import folders
from tests.ops.tables import MOVE_NOTHING, TABLES, table

# Where float32 becomes int8 and back, which no table's model has inside.
BORDERS = ("quantize", "dequantize")
# What is only made for layers that stay float32: aot/passes/aten/floats/test_float_forms.py.
FLOATS = ("integer_to_float", "scatter_sum_float")
# What no model of PyTorch becomes: aot/importers/tflite/test_builtins.py.
IMPORTED = ("svdf",)


def modules(package: ModuleType) -> list[str]:
    files = Path(str(package.__file__)).parent.glob("*.py")
    return sorted(f.stem for f in files if not f.stem.startswith(("_", "test_")))


@pytest.mark.parametrize("name", modules(aot.dialect.ops))
def test_the_dialect_has_the_op(name: str) -> None:
    assert name in aot.dialect.ops.__all__, (
        f"aot/dialect/ops/__init__.py does not import {name}: add it there, twice"
    )


@pytest.mark.parametrize("name", modules(aot.rules))
def test_rules_are_registered(name: str) -> None:
    family = getattr(importlib.import_module(f"aot.rules.{name}"), "FAMILY", None)
    assert not isinstance(family, Family) or family in aot.rules.FAMILIES, (
        f"aot/rules/__init__.py does not list {name}.FAMILY: add it there"
    )


@pytest.mark.parametrize("name", [op for op in OPS if op not in MOVE_NOTHING])
def test_the_op_has_a_kernel(name: str) -> None:
    assert f"pl::{name}" in all_kernels(), (
        f"no kernel is for pl::{name}: write kernels/{name}/, as kernels/README.md says"
    )


def test_kernels_folders_are_complete() -> None:
    assert [folder.name for folder in folders()]


@pytest.mark.parametrize("op", [op for op in all_kernels() if op.startswith("pl::")])
def test_the_dialect_has_the_kernels_op(op: str) -> None:
    name = op.removeprefix("pl::")
    assert name in OPS, f"the dialect has no {op}: write aot/dialect/ops/{name}.py"


@cache
def ops_of_the_npu() -> set[str]:
    """Imported late: it adds ops of its own to the dialect."""
    from aot.backends.ethos_u.emitters import EMITTERS, WHY_NOT

    return EMITTERS.keys() | WHY_NOT.keys()


@pytest.mark.parametrize("name", OPS)
def test_the_npu_has_an_emitter_or_a_reason(name: str) -> None:
    assert name in ops_of_the_npu(), (
        f"no emitter is for pl::{name}: add it to WHY_NOT of aot/backends/ethos_u/emitters/"
        "__init__.py, with the reason, or write one"
    )


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
        f"no case gives pl::{name}: add rows to a table of tests/ops, and what lowers to it to a "
        "rule of aot/rules"
    )
