# SPDX-License-Identifier: Apache-2.0
"""Reads the imports of Python source."""

import ast
from collections.abc import Iterable, Iterator


def imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield line number and names of each import among syntax nodes.

    `from a.b import c` gives "a.b.c" and "a.b": c is a module or a name in one.
    """
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, (alias.name,)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield node.lineno, (f"{node.module}.{alias.name}", node.module)
