# SPDX-License-Identifier: Apache-2.0
"""Paths on the command line of tools that `bazel run` starts elsewhere."""

from __future__ import annotations

import os
from pathlib import Path


def user_path(path: str) -> Path:
    """`path` as seen from the folder that the user is in."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / path
