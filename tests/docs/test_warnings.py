# SPDX-License-Identifier: Apache-2.0
"""Every kind of doubt that lowering has is on its page."""

import ast
import re
from collections.abc import Iterator

from tools.lint.workspace import source_files, workspace_root

_ROOT = workspace_root()
_PAGE = (_ROOT / "docs" / "quality.md").read_text().partition("## Warnings")[2]


def _kinds() -> Iterator[str]:
    """Yields the first argument of each finding that the compiler makes."""
    for name in source_files(_ROOT, ["aot/*.py"], ["*/test_*.py"]):
        for node in ast.walk(ast.parse((_ROOT / name).read_text())):
            made = node.func if isinstance(node, ast.Call) else None
            if isinstance(made, ast.Name) and made.id in ("Finding", "finding_at"):
                assert isinstance(node, ast.Call)
                kind = node.args[0]
                if name != "aot/quality/finding.py":
                    assert isinstance(kind, ast.Constant), f"{name}:{node.lineno}: name the kind"
                    yield str(kind.value)


def test_every_kind_has_a_row() -> None:
    rows = [line.split("|")[1] for line in _PAGE.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(set(_kinds()))
