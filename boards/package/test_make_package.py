# SPDX-License-Identifier: Apache-2.0
"""The vectors that a package checks a model with are of that model."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from boards.package.choose import PackageError
from boards.package.make_package import with_vectors


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
        ("ab", "ac", r"none of the image's plans is of .*b\.pte"),
        ("a", "ab", "the image names no model of its plan b_plan"),
        ("a", "aa", "the image names no model of its plan a_plan"),
    ],
)
def test_models_and_plans_of_others(tmp_path: Path, models: str, plans: str, says: str) -> None:
    with pytest.raises(PackageError, match=says):
        _paired(tmp_path, models, plans)
