# SPDX-License-Identifier: Apache-2.0
"""Location of the page's libraries, for programs making a page at run time."""

import errno
from pathlib import Path

from tools.python.runfile import runfile

# Order of the files in the page.
_FILES = ("d3.LICENSE", "d3.min.js", "dagre.LICENSE", "dagre.min.js")


def libraries() -> list[Path]:
    """Return d3 and dagre, minified, and their licences."""
    return [_library(name) for name in _FILES]


def _library(name: str) -> Path:
    found = runfile(f"page_libraries/{name}")
    if found is None:
        raise FileNotFoundError(
            errno.ENOENT, "the page's libraries are missing; start this program with Bazel", name
        )
    return found
