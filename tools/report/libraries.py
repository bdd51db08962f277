# SPDX-License-Identifier: Apache-2.0
"""Where the page's libraries are, for programs that make one when they run."""

import errno
from pathlib import Path

from tools.python.runfile import runfile

# In the order in which the page has them.
_FILES = ("d3.LICENSE", "d3.min.js", "dagre.LICENSE", "dagre.min.js")


def libraries() -> list[Path]:
    """d3 and dagre, minified, and their licences."""
    return [_library(name) for name in _FILES]


def _library(name: str) -> Path:
    found = runfile(f"page_libraries/{name}")
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "not there: no program of Bazel's", name)
    return found
