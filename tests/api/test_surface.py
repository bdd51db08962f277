# SPDX-License-Identifier: Apache-2.0
"""Changes of the public interface stand in the changelog; the version is the same everywhere."""

import re
import shutil
from pathlib import Path

import pytest

from tests.api import surface
from tools.lint.workspace import source_files, workspace_root
from tools.site import public
from tools.version import VERSION

_ROOT = workspace_root()


def test_changes_of_the_interface_stand_in_the_changelog() -> None:
    assert surface.unexplained(_ROOT) == [], f"name each in {surface.CHANGELOG}, section Unreleased"


def test_the_version_is_the_same_everywhere() -> None:
    module = (_ROOT / "MODULE.bazel").read_text()
    assert f'module(\n    name = "pilotlight",\n    version = "{VERSION}",\n)' in module
    assert f"\n## {VERSION}\n" in (_ROOT / surface.CHANGELOG).read_text()


def test_the_interface_has_all_kinds() -> None:
    found = surface.surface(_ROOT)
    assert "aot/lower.py lower" in found
    assert "aot/pte_model.bzl pte_model.io_layout" in found
    assert "firmware/runtime/model.h pl_model_run" in found
    assert "kernels/common/status.h PL_ERROR_BUSY" in found
    assert "aot/artefact/report.schema.json quality.outputs[].sqnr_db" in found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    patterns = [*public.PYTHON, *public.STARLARK, *public.HEADERS, *public.SCHEMAS]
    for name in source_files(_ROOT, [*patterns, surface.RELEASED, surface.CHANGELOG]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "name"),
    [
        ("aot/lower_tflite.py", "neutron: str = REQUIRED", "neutron: str = CUT", "lower_tflite"),
        ("aot/pte_model.bzl", "        equalize = False,\n", "", "pte_model.equalize"),
        (
            "firmware/runtime/model.h",
            "uint32_t input_count,",
            "uint8_t input_count,",
            "pl_model_run",
        ),
        ("firmware/runtime/model.h", "uint32_t error_index;", "", "pl_model"),
        ("kernels/common/status.h", "PL_ERROR_BUSY", "PL_ERROR_OTHER", "PL_ERROR_BUSY"),
        ("aot/artefact/report.schema.json", '"pte_bytes"', '"size"', "pte_bytes"),
    ],
)
def test_a_change_needs_a_line(tree: Path, file: str, old: str, new: str, name: str) -> None:
    changelog = tree / surface.CHANGELOG
    changelog.write_text(changelog.read_text().replace(surface.unreleased(tree), "\n"))
    before = surface.unexplained(tree)
    text = (tree / file).read_text()
    assert old in text
    (tree / file).write_text(text.replace(old, new))
    assert f"{file} {name}" in set(surface.unexplained(tree)) - set(before)
    names = [re.split(r"[ .\]]", d)[-1] for d in surface.differences(tree)]
    added = "".join(f"- `{n}`\n" for n in names)
    head = "\n## Unreleased\n"
    changelog.write_text(re.sub(head, head + added, changelog.read_text(), count=1))
    assert surface.unexplained(tree) == []
