# SPDX-License-Identifier: Apache-2.0
"""Pages that list the files of a folder list those that there are."""

import re
from pathlib import Path

import pytest

from tools.lint.workspace import source_files, workspace_root

_ROOT = workspace_root()
_LISTS = {
    "aot/plan": "aot/plan/README.md",
    "aot/pte": "aot/pte/README.md",
    "aot/slot": "firmware/slot/README.md",
    "firmware/slot": "firmware/slot/README.md",
    "tools/report": "tools/report/README.md",
}


def _named(page: str) -> set[str]:
    """Return the names of files in the first column of tables."""
    cells = re.findall(r"^\|([^|]*)\|", (_ROOT / page).read_text(), re.MULTILINE)
    return set(re.findall(r"`(\w+\.(?:py|h))`", " ".join(cells)))


@pytest.mark.parametrize("folder", _LISTS)
def test_every_file_has_a_row(folder: str) -> None:
    exclude = ["*/test_*", "*/__init__.py", "*/testing*"]
    files = source_files(_ROOT, [f"{folder}/*.py", f"{folder}/*.h"], exclude)
    there = {Path(file).name for file in files if Path(file).parent == Path(folder)}
    assert len(there) > 5
    assert there - _named(_LISTS[folder]) == set()


@pytest.mark.parametrize("page", sorted(set(_LISTS.values())))
def test_every_row_has_a_file(page: str) -> None:
    folders = [folder for folder, of in _LISTS.items() if of == page]
    gone = [n for n in _named(page) if not any((_ROOT / f / n).exists() for f in folders)]
    assert gone == []
