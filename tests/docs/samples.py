# SPDX-License-Identifier: Apache-2.0
"""Blocks of code in pages."""

import re
import textwrap
from collections.abc import Iterator

from tools.lint.workspace import source_files, workspace_root


def samples() -> Iterator[tuple[str, str, str]]:
    """Yield page, language and text of each block."""
    root = workspace_root()
    for page in source_files(root, ["*.md"]):
        text = (root / page).read_text()
        for block in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```", text, re.M | re.S):
            yield page, block[2], textwrap.dedent(block[3])
