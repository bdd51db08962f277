# SPDX-License-Identifier: Apache-2.0
"""Only aot/upstream imports private names of torch, torchao and ExecuTorch."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator

import pytest

from aot.upstream import VERSIONS
from tools.lint.workspace import source_files, workspace_root

_ROOT = workspace_root()
_PUBLIC = ("torch.ops.", "torch._assert_async")
"""Names of operators, and a function called by users."""


def _is_private(name: str) -> bool:
    parts = name.split(".")
    hidden = any(part.startswith("_") and not part.startswith("__") for part in parts)
    return parts[0] in VERSIONS and hidden and not name.startswith(_PUBLIC)


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield each imported name and each attribute of an imported name, in full."""
    full: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
                full[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield node.lineno, f"{node.module}.{alias.name}"

    def name(node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            return f"{name(node.value)}.{node.attr}"
        return full.get(node.id, "") if isinstance(node, ast.Name) else ""

    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.lineno, name(node)


def private_names(text: str) -> list[tuple[int, str]]:
    return sorted({found for found in _names(ast.parse(text)) if _is_private(found[1])})


@pytest.mark.parametrize(
    "text",
    [
        "import torch._dynamo",
        "from torch.export import _trace",
        "from torch.utils._pytree import tree_map",
        "import torchao.utils as u\nu._cache()",
        "import torch\ntorch._C._get_schema('a', '')",
    ],
)
def test_private_names_are_found(text: str) -> None:
    assert len({line for line, _ in private_names(text)}) == 1


@pytest.mark.parametrize(
    "text", ["import torch\ntorch.ops.aten._to_copy.default", "import torch\ntorch.__version__"]
)
def test_public_names_are_left(text: str) -> None:
    assert not private_names(text)


def test_no_other_folder_imports_private_names() -> None:
    found = [
        f"{file}:{line}: {name}"
        for file in source_files(_ROOT, ["*.py"], ["aot/upstream/*"])
        for line, name in private_names((_ROOT / file).read_text())
    ]
    assert not found, "import these by way of aot/upstream"


def test_the_wheel_requires_the_versions_that_were_tried() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    for library, versions in VERSIONS.items():
        assert f"{library}{versions}" in project["dependencies"]
