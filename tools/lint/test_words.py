# SPDX-License-Identifier: Apache-2.0
"""Texts that exceed a limit are found, in a file and in a room; the others are not."""

from __future__ import annotations

import pytest

from tools.lint.words import problems, texts

PLAIN = '"""Return the bytes of a plan."""\n'


def _of(*files: tuple[str, str]) -> list[str]:
    return problems([text for path, source in files for text in texts(path, source)])


@pytest.mark.parametrize(
    ("path", "source", "words"),
    [
        ("aot/a.py", '"""Of a plan."""\n' * 3, "docstrings: 3 times openings without a subject"),
        ("aot/a.py", "x = 1\n# What is it?\n" * 3, "other comments: 3 times openings"),
        ("kernels/a.c", "int x;\n// What it is.\n" * 3, "C comments: 3 times openings"),
        ("docs/a.md", "A value of which two are.\n\n" * 3, "pages: 3 times of which"),
        ("docs/a.md", "- The plan says so.\n" * 3, "pages: 3 times says"),
        ("docs/a.md", "It stands behind it.\n\n" * 3, "pages: 3 times behind"),
    ],
)
def test_finds(path: str, source: str, words: str) -> None:
    assert any(line.startswith(path) and words in line for line in _of((path, source)))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("aot/a.py", PLAIN * 20),
        ("aot/a.py", '"""Of a plan."""\n' * 2),
        ("docs/a.md", "```\nOf what?\n\nWhat says so?\n\nIn front of it, behind it.\n```\n"),
        ("docs/a.md", "| Of what | behind |\n"),
        ("kernels/a.c", "// SPDX-License-Identifier: What\n"),
    ],
)
def test_leaves(path: str, source: str) -> None:
    assert _of((path, source)) == []


def test_finds_a_room_whose_files_stay_within_their_limits() -> None:
    files = [(f"aot/a{n}.py", '"""Of a plan."""\n' + PLAIN * 20) for n in range(20)]
    (line,) = _of(*files)
    assert line.startswith("aot/: docstrings: 20 times openings")
