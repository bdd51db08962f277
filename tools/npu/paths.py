# SPDX-License-Identifier: Apache-2.0
"""Command line paths of tools started by `bazel run` in another folder."""

from __future__ import annotations

import os
from pathlib import Path


def user_path(path: str) -> Path:
    """Return `path` relative to the user's working folder."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / path
