# SPDX-License-Identifier: Apache-2.0
"""Files of released versions. Old files are read, or refused with both versions named."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Release:
    """The files of a version.

    Attributes:
      pte_format, package_format: versions of the formats of net.pte and sample.plpk.
    """

    version: str
    pte_format: int
    package_format: int

    @property
    def folder(self) -> Path:
        return _FOLDER / self.version


def releases() -> list[Release]:
    """Return all released versions, in the order of their names."""
    found = []
    for path in sorted(_FOLDER.glob("*/formats.json")):
        formats = json.loads(path.read_text())
        found.append(Release(path.parent.name, formats["pte"], formats["package"]))
    return found
