# SPDX-License-Identifier: Apache-2.0
"""Upward imports, import cycles and files without a room are reported; other files are not."""

from __future__ import annotations

import pytest

from tools.lint.rooms import FLOORS, problems, room_of

BASE = {"kernels/a.py": "", "aot/rules/b.py": "", "aot/passes/c.py": "", "measure/d.py": ""}


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("aot/rules/b.py", "from aot.passes import c", "aot/rules imports aot/passes/c.py"),
        ("aot/rules/b.py", "def f():\n    import aot.passes.c", "aot/rules/b.py:2"),
        ("kernels/a.py", "import measure.d", "measure is not on a lower floor"),
        ("aot/passes/c.py", "from aot.passes.c2 import x", "aot/passes/c2.py -> aot/passes/c.py"),
        ("aot/new/e.py", "", "is in no room"),
    ],
)
def test_finds(path: str, text: str, words: str) -> None:
    (line,) = problems({**BASE, "aot/passes/c2.py": "import aot.passes.c", path: text})
    assert words in line


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("aot/passes/c.py", "from aot.rules import b\nimport kernels.a"),
        ("measure/d.py", "import aot.passes.c"),
        ("aot/passes/c.py", "import torch"),
    ],
)
def test_leaves(path: str, text: str) -> None:
    assert problems({**BASE, path: text}) == []


def test_tests_import_any_room() -> None:
    sources = {**BASE, "kernels/test_a.py": "import measure.d"}
    assert problems(sources, ["kernels/test_a.py"]) == []


def test_the_longest_name_counts() -> None:
    assert room_of("tools/image/flash.py") == "tools/image"
    assert room_of("tools/text/table.py") == "tools"
    names = [room for rooms in FLOORS for room in rooms.split()]
    assert len(names) == len(set(names))
