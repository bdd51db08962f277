# SPDX-License-Identifier: Apache-2.0
"""Blocks of code in pages."""

import functools
import re
import textwrap

from tools.lint.workspace import source_files, workspace_root


@functools.cache
def samples() -> tuple[tuple[str, str, str], ...]:
    """Return page, language and text of each block."""
    found = []
    root = workspace_root()
    for page in source_files(root, ["*.md"]):
        text = (root / page).read_text()
        for block in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```", text, re.M | re.S):
            found.append((page, block[2], textwrap.dedent(block[3])))
    return tuple(found)


def by_page(language: str) -> dict[str, list[str]]:
    """Return the blocks of a language by page."""
    found: dict[str, list[str]] = {}
    for page, of_block, text in samples():
        if of_block == language:
            found.setdefault(page, []).append(text)
    return found
