# SPDX-License-Identifier: Apache-2.0
"""Arguments and attributes in docstrings exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tools.lint.workspace import source_files, workspace_root

_ROOT = workspace_root()
_SECTION = re.compile(r"^(?:Args|Attributes):\n((?:[ ]+.*\n?|\n)+)", re.M)
_NAME = re.compile(r"([*\w]+(?:, [*\w]+)*):")


def _listed(docstring: str) -> set[str]:
    """Return the names at the start of entries."""
    found: set[str] = set()
    for section in _SECTION.findall(docstring):
        lines = section.split("\n")
        indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        for line in lines:
            if name := _NAME.match(line[indent:]):
                found |= {part.strip(" *") for part in name[1].split(",")}
    return found


def _existing(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    """Return parameters, and for a class also its fields and methods."""
    found = {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
    for inner in ast.walk(node) if isinstance(node, ast.ClassDef) else ():
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            found.add(inner.id)
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            found.add(inner.attr)
        if isinstance(inner, ast.FunctionDef):
            found.add(inner.name)
    return found


def _wrong(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node)):
            yield from (f"{node.name}: {x}" for x in _listed(text) - _existing(node))


def test_listed_names_exist() -> None:
    files = source_files(_ROOT, ["*.py"])
    wrong = [f"{file}: {x}" for file in files for x in _wrong((_ROOT / file).read_text())]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "count"), [("size", 0), ("size, other", 0), ("*rest", 0), ("length", 1)]
)
def test_a_renamed_argument_is_found(name: str, count: int) -> None:
    function = (
        f'def f(size, other, *rest):\n    """Do.\n\n    Args:\n      {name}: of it.\n    """\n'
    )
    assert len([*_wrong(function)]) == count
