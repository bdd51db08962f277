# SPDX-License-Identifier: Apache-2.0
"""docs/neutron.md: its table has every op, and its recipe is valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aot.backends.neutron.limits import LIMITS
from aot.targets import target_named
from tools.lint.workspace import workspace_root

PAGE = (workspace_root() / "docs/neutron.md").read_text()


def test_every_op_has_a_row() -> None:
    rows = "\n".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| "))
    named = set(re.findall(r"`(\w+)`", rows)) | {"gather"}  # as nearest pixels
    assert LIMITS.keys() <= named


def test_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (recipe,) = [
        block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "TARGET" in block
    ]
    (tmp_path / "soc.py").write_text(recipe)
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    target = target_named("soc.py:TARGET")
    assert target.name == "my-soc"
    assert [backend.name for backend in target.backends] == ["neutron", "cortex_m"]
    target.check()  # it does not need the SDK
