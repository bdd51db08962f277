# SPDX-License-Identifier: Apache-2.0
"""Reads tools/versions.env."""

from __future__ import annotations

import re
from pathlib import Path

VERSIONS_FILE = Path(__file__).parents[1] / "versions.env"


def read_versions(path: Path = VERSIONS_FILE) -> dict[str, str]:
    """Return value by name.

    Raises:
        ValueError: a line is neither a comment nor KEY="value".
    """
    versions = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r'([A-Z0-9_]+)="([^"]*)"', line)
        if not match:
            raise ValueError(f'{path}:{number}: expected KEY="value", found {line!r}')
        versions[match[1]] = match[2]
    return versions
