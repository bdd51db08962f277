# SPDX-License-Identifier: Apache-2.0
"""Which Bazel programs call that Bazel has started, and how its servers start."""

import os
from pathlib import Path

_OWN = Path(__file__).parents[1] / "bazel"


def bazel_program(root: Path) -> str:
    """Returns the program for a workspace: its own tools/bazel, else Pilotlight's, which takes an
    installed Bazel where there is one. bazelisk names its own.

    Args:
      root: folder of the workspace.
    """
    own = root / "tools/bazel"
    return os.environ.get("BAZEL_REAL") or str(own if own.exists() else _OWN.resolve())


def startup_options(root: Path) -> str:
    """Returns the lines of a workspace's .bazelrc that say how its server is started."""
    lines = (root / ".bazelrc").read_text().splitlines()
    return "".join(f"{line}\n" for line in lines if line.startswith("startup "))
