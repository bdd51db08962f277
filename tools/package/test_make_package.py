# SPDX-License-Identifier: Apache-2.0
"""The check vectors of a package belong to its model."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from tools.package.choose import ChoiceError, needed
from tools.package.make_package import with_vectors


def _plan(name: str, pte: bytes) -> dict[str, Any]:
    return {"name": name, "pte_sha256": hashlib.sha256(pte).hexdigest()}


def _paired(folder: Path, models: str, plans: str) -> dict[str, str]:
    """The file of vectors by the plan; a model's .pte is its letter."""
    for model in models:
        (folder / f"{model}.pte").write_text(model)
    ptes, vectors = ([str(folder / f"{m}.{end}") for m in models] for end in ("pte", "npz"))
    pairs = with_vectors([_plan(f"{p}_plan", p.encode()) for p in plans], ptes, vectors)
    return {plan["name"]: Path(file).name for plan, file in pairs}


@pytest.mark.parametrize(("models", "plans"), [("a", "a"), ("ab", "ab"), ("ab", "ba")])
def test_a_plan_has_the_vectors_of_its_model(tmp_path: Path, models: str, plans: str) -> None:
    assert _paired(tmp_path, models, plans) == {f"{m}_plan": f"{m}.npz" for m in models}


@pytest.mark.parametrize(
    ("models", "plans", "says"),
    [
        ("ab", "ac", r"the image has no plan made from .*b\.pte"),
        ("a", "ab", "the image does not name the model of its plan b_plan"),
        ("a", "aa", "the image does not name the model of its plan a_plan"),
    ],
)
def test_models_and_plans_of_others(tmp_path: Path, models: str, plans: str, says: str) -> None:
    with pytest.raises(ChoiceError, match=says):
        _paired(tmp_path, models, plans)


_SOURCES = {
    "firmware/runtime/model.c": "pl_status pl_model_run(void) {\n  return pl_execute();\n}\n",
    "firmware/runtime/executor.c": "pl_status pl_execute(void) {\n}\nuint32_t pl_busy;\n",
    "firmware/runtime/executor_profiled.c": "pl_status pl_execute(void) {\n}\n",
    "firmware/runtime/values.c": "",
    "kernels/a/a.h": "pl_status pl_a_s8(void);\npl_status pl_a_other_s8(void);\n",
    "kernels/a/a_s8_scalar.c": '#include "kernels/a/a.h"\npl_status pl_a_s8(void) {\n}\n',
    "kernels/a/a_s8_dsp.c": "pl_status pl_a_s8(void) {\n  pl_b_s8();  // pl_c_s8()\n}\n",
    "kernels/a/a_s8_thumb1.c": "pl_status pl_a_s8(void) {\n}\n",
    "kernels/a/a_other_s8.c": "pl_status pl_a_other_s8(void) {\n}\n",
    "kernels/b/b_s8_mve.c": "pl_status pl_b_s8(void) {\n}\n",
    "kernels/b/b_s8_scalar.c": "pl_status pl_b_s8(void) {\n}\n",
    "kernels/c/c_s8.c": "pl_status pl_c_s8(void) {\n}\n",
    "net.plan.c": '#include "kernels/a/a.h"\nstatic void f(void) {\n  pl_a_s8();\n}\n',
}


@pytest.mark.parametrize(
    ("isa", "chosen"),
    [
        ("scalar", {"kernels/a/a_s8_scalar"}),
        ("thumb1", {"kernels/a/a_s8_thumb1"}),
        ("dsp", {"kernels/a/a_s8_dsp", "kernels/b/b_s8_scalar"}),
        ("mve", {"kernels/a/a_s8_dsp", "kernels/b/b_s8_mve"}),
    ],
)
def test_sources_by_the_names_that_they_use(tmp_path: Path, isa: str, chosen: set[str]) -> None:
    by_path = {}
    for index, (path, text) in enumerate(_SOURCES.items()):
        by_path[path] = tmp_path / f"{index}"
        by_path[path].write_text(text)
    runtime = {"firmware/runtime/model", "firmware/runtime/executor", "firmware/runtime/values"}
    assert needed(by_path, isa, ["net"]) == runtime | chosen | {"net.plan"}
